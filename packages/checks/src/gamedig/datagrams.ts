import { type GameFacts, PacketReader } from './facts.ts';

/** What to send first, and how to read what comes: facts, more to send, or undefined for a packet that is no answer. It may throw. */
export type DatagramGame = {
  readonly request: Buffer;
  readonly read: (bytes: Buffer) => GameFacts | { readonly again: Buffer } | undefined;
};

const unsplit = Buffer.from([0xff, 0xff, 0xff, 0xff]);

const infoRequest = Buffer.concat([unsplit, Buffer.from('TSource Engine Query\0', 'latin1')]);

/** A2S_INFO of the Source engine (developer.valvesoftware.com, "Server queries"), with the challenge that servers ask for since 2020. */
export const source: DatagramGame = {
  request: infoRequest,
  read: (bytes) => {
    if (!bytes.subarray(0, 4).equals(unsplit)) return undefined;
    if (bytes[4] === 0x41 && bytes.length >= 9) return { again: Buffer.concat([infoRequest, bytes.subarray(5, 9)]) };
    if (bytes[4] !== 0x49) return undefined;
    const packet = new PacketReader(bytes, 6);
    const name = packet.text();
    const map = packet.text();
    packet.text(); // folder
    packet.text(); // game
    packet.skip(2); // number of the application
    const players = packet.octet();
    const maxPlayers = packet.octet();
    packet.skip(5); // bots, kind, system, visibility, VAC
    return { name, map, players, maxPlayers, version: packet.text() };
  },
};

/** `getstatus` of Quake III and its descendants: pairs behind backslashes, then a line for each player. */
export const quake3: DatagramGame = {
  request: Buffer.concat([unsplit, Buffer.from('getstatus\n', 'latin1')]),
  read: (bytes) => {
    const text = bytes.toString('latin1', 4);
    if (!bytes.subarray(0, 4).equals(unsplit) || !text.startsWith('statusResponse\n\\')) return undefined;
    const [, pairs = '', ...players] = text.split('\n');
    const words = pairs.split('\\').slice(1);
    const values = new Map<string, string>();
    for (let at = 0; at + 1 < words.length; at += 2) values.set((words[at] ?? '').toLowerCase(), words[at + 1] ?? '');
    const maxPlayers = Number(values.get('sv_maxclients'));
    if (!Number.isSafeInteger(maxPlayers)) return undefined;
    return {
      name: (values.get('sv_hostname') ?? '').replaceAll(/\^./g, ''),
      map: values.get('mapname') ?? '',
      players: players.filter((line) => line !== '' && line !== '\0').length,
      maxPlayers,
      version: values.get('version') ?? '',
    };
  },
};

const magic = Buffer.from('00ffff00fefefefefdfdfdfd12345678', 'hex');

/** The unconnected ping of RakNet, which Bedrock servers answer with fields between semicolons. */
export const minecraftBedrock: DatagramGame = {
  request: Buffer.concat([Buffer.from([0x01]), Buffer.alloc(8), magic, Buffer.alloc(8)]),
  read: (bytes) => {
    if (bytes[0] !== 0x1c || bytes.length < 35 || !bytes.subarray(17, 33).equals(magic)) return undefined;
    const [, name = '', , version = '', players, maxPlayers, , map = ''] = bytes.toString('utf8', 35).split(';');
    const counts = { players: Number(players), maxPlayers: Number(maxPlayers) };
    if (!Number.isSafeInteger(counts.players) || !Number.isSafeInteger(counts.maxPlayers)) return undefined;
    return { name, map, version, ...counts };
  },
};
