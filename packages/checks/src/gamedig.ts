import { z } from 'zod';
import { lazily } from './lazily.ts';
import { type DatagramGame, minecraftBedrock, quake3, source } from './gamedig/datagrams.ts';
import type { GameFacts } from './gamedig/facts.ts';
import { askMinecraftJava } from './gamedig/minecraft-java.ts';
import { addressFields } from './net/connection-settings.ts';
import { conversation, readAddress } from './net/conversation.ts';
import { type Failure, failed } from './net/failure.ts';
import { printable } from './net/lines.ts';
import type { Session } from './net/session.ts';

const games = {
  source: { port: 27_015, datagrams: source },
  minecraft_java: { port: 25_565, datagrams: undefined },
  minecraft_bedrock: { port: 19_132, datagrams: minecraftBedrock },
  quake3: { port: 27_960, datagrams: quake3 },
} as const;
const gameNames = ['source', 'minecraft_java', 'minecraft_bedrock', 'quake3'] as const;

/** Settings of `gamedig`. */
export const gamedigSettings = lazily(() =>
  z.strictObject({
    /** How the server is asked. `source` is what most games since Half-Life answer. */
    game: z.enum(gameNames).default('source'),
    /** Fewer players than these fail the check. */
    min_players: z.int().min(0).max(100_000).default(0),
    /** Fewer free places than these fail the check. */
    min_free_slots: z.int().min(0).max(100_000).default(0),
    /** Must occur in the name of the server. */
    expected_name: z.string().min(1).max(256).optional(),
    /** Must be the map that is played. */
    expected_map: z.string().min(1).max(256).optional(),
    ...addressFields(),
  }),
);
export type GamedigSettings = z.infer<ReturnType<typeof gamedigSettings>>;

/** A game server: its name, map and players, asked as the list of servers in a game asks. */
export const gamedig = conversation({
  type: 'gamedig',
  summary: 'A game server: name, map and players',
  reference: {
    targets: ['play.example.com', 'play.example.com:27015'],
    settings: { game: 'minecraft_java' },
    phases: ['dns', 'connect', 'first_byte'],
    details: {
      name: 'Name of the server.',
      map: 'The map that is played.',
      players: 'Players now.',
      max_players: 'Players at most.',
      version: 'Version of the game.',
    },
  },
  settings: gamedigSettings,
  peer: 'a game server',
  codes: 'game_protocol',
  target: (target, { game }) => readAddress(target.url, { plain: { game: games[game].port } }),
  talk: async (session, settings, to) => {
    const { datagrams } = games[settings.game];
    const facts = datagrams === undefined ? await askMinecraftJava(session, to) : await askForFacts(session, datagrams);
    session.demand(judge(facts, settings, session));
  },
});

/** So many challenges a server may set before it has to answer. */
const maxRounds = 3;

async function askForFacts(session: Session, game: DatagramGame): Promise<GameFacts> {
  let message = game.request;
  for (let round = 0; round < maxRounds; round += 1) {
    const answer = await session.ask({ message, accept: game.read });
    if ('name' in answer) return answer;
    message = answer.again;
  }
  return session.fail('game_protocol', `The server set ${maxRounds} challenges and did not answer.`);
}

function judge(facts: GameFacts, settings: GamedigSettings, session: Session): Failure | undefined {
  const { players, maxPlayers } = facts;
  const name = printable(facts.name, 200);
  const map = printable(facts.map, 200);
  session.note('name', name);
  if (map !== '') session.note('map', map);
  session.note('players', players);
  session.note('max_players', maxPlayers);
  session.note('version', printable(facts.version, 100));
  if (players < settings.min_players)
    return failed('game_mismatch', `The server has ${players} players, fewer than ${settings.min_players}.`);
  if (maxPlayers - players < settings.min_free_slots)
    return failed('game_mismatch', `The server has ${maxPlayers - players} places, fewer than wanted.`);
  if (settings.expected_name !== undefined && !name.includes(settings.expected_name))
    return failed('game_mismatch', `The server is called "${name}", which is not what is expected.`);
  if (settings.expected_map !== undefined && map !== settings.expected_map)
    return failed('game_mismatch', `The server plays the map "${map}", which is not what is expected.`);
  return undefined;
}
