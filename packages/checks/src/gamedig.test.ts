import t from 'tap';
import { gamedig } from './gamedig.ts';
import { varint } from './gamedig/minecraft-java.ts';
import { runCheck } from './run.ts';
import { listenRaw, testContext, until } from './testing/context.ts';
import { startDatagrams } from './testing/servers/datagrams.ts';
import { startSourceGame } from './testing/servers/game.ts';

const check = (port: number, settings: object = {}, overrides = {}) =>
  runCheck('gamedig', { url: `127.0.0.1:${port}` }, settings, testContext(overrides));

const four = Buffer.alloc(4, 0xff);
void t.test('a server of the Source engine is asked with its challenge', async (t) => {
  const server = await startSourceGame(t);
  t.match(await check(server.port, { min_players: 12, min_free_slots: 4, expected_map: 'de_dust2' }), {
    outcome: 'ok',
    phases: { dns: Number, first_byte: Number },
    evidence: {
      details: { name: 'Frag House', map: 'de_dust2', players: 12, max_players: 16, version: '1.38' },
    },
  });
  const wrong = { outcome: 'fail', code: 'game_mismatch', source: 'target' };
  t.match(await check(server.port, { min_players: 13 }), { ...wrong, message: /12 players/ });
  t.match(await check(server.port, { min_free_slots: 5 }), { ...wrong, message: /4 places/ });
  t.match(await check(server.port, { expected_map: 'de_nuke' }), { ...wrong, message: /de_dust2/ });
  t.match(await check(server.port, { expected_name: 'Other' }), { ...wrong, message: /Frag House/ });
  await server.stop();
  t.match(await check(server.port), { outcome: 'fail', code: 'connect_refused', source: 'target' });
});

void t.test('servers of Quake III and of Bedrock are read', async (t) => {
  const quake = await startDatagrams(t, (bytes) =>
    bytes.toString('latin1', 4) === 'getstatus\n'
      ? Buffer.concat([
          four,
          Buffer.from(
            'statusResponse\n\\sv_hostname\\^1Arena\\mapname\\q3dm17\\sv_maxclients\\8\n3 50 "a"\n1 20 "b"\n',
          ),
        ])
      : undefined,
  );

  t.match(await check(quake.port, { game: 'quake3' }), {
    outcome: 'ok',
    evidence: { details: { name: 'Arena', map: 'q3dm17', players: 2, max_players: 8 } },
  });
  const magic = Buffer.from('00ffff00fefefefefdfdfdfd12345678', 'hex');
  const text = Buffer.from('MCPE;Our Realm;622;1.20.40;3;10;123;Bedrock level;Survival');
  const bedrock = await startDatagrams(t, (bytes) =>
    bytes[0] === 1 && bytes.subarray(9, 25).equals(magic)
      ? Buffer.concat([Buffer.from([0x1c]), Buffer.alloc(16), magic, Buffer.from([0, text.length]), text])
      : undefined,
  );

  t.match(await check(bedrock.port, { game: 'minecraft_bedrock' }), {
    outcome: 'ok',
    evidence: { details: { name: 'Our Realm', players: 3, max_players: 10, version: '1.20.40' } },
  });
});

void t.test('garbage, silence and endless challenges fail over UDP', async (t) => {
  const garbage = await startDatagrams(t, () => Buffer.from('\xff\xff\xff\xffIcut short', 'latin1'));
  const silent = await startDatagrams(t, () => undefined);
  const cruel = await startDatagrams(t, () => Buffer.concat([four, Buffer.from('Axyzw')]));
  t.match(await check(garbage.port, {}, { timeoutMs: 100 }), { code: 'game_protocol', source: 'target' });
  t.match(await check(silent.port, {}, { timeoutMs: 100 }), { outcome: 'timeout', code: 'response_timeout' });
  t.match(await check(cruel.port), { outcome: 'fail', code: 'game_protocol', message: /3 challenges/ });
});

/** A Minecraft server that answers a status request with this text. */
function minecraft(status: string, trailing = 0) {
  return listenRaw((socket) => {
    let got = Buffer.alloc(0);
    socket.on('data', (piece: Buffer) => {
      got = Buffer.concat([got, piece]);
      if (!got.toString('hex').endsWith('0100')) return;
      const text = Buffer.from(status);
      const body = Buffer.concat([Buffer.from([0]), varint(text.length + trailing), text]);
      socket.write(Buffer.concat([varint(body.length), body]));
    });
  });
}

void t.test('a Minecraft server is read, and what is none fails', async (t) => {
  const game = { game: 'minecraft_java' };
  const status = {
    version: { name: '1.21.4', protocol: 769 },
    players: { online: 5, max: 20 },
    description: { text: '', extra: [{ text: 'Our §aWorld' }, '!'] },
  };
  const server = await minecraft(JSON.stringify(status));
  const broken = await minecraft('{"players":');
  const cut = await minecraft('{}', 50);
  const web = await listenRaw((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
  for (const peer of [broken, cut, web]) t.teardown(peer.stop);
  t.match(await check(server.port, game), {
    outcome: 'ok',
    phases: { dns: Number, connect: Number, first_byte: Number, transfer: Number },
    evidence: { details: { name: 'Our World!', players: 5, max_players: 20, version: '1.21.4' } },
  });
  const discreet = await minecraft(JSON.stringify({ version: { name: '1.21.4' } }));
  t.teardown(discreet.stop);
  t.match(
    await check(discreet.port, game),
    { outcome: 'ok', evidence: { details: { players: 0 } } },
    'hides its players',
  );
  t.match(await check(server.port, { ...game, min_players: 6 }), { outcome: 'fail', code: 'game_mismatch' });
  for (const peer of [broken, cut]) t.match(await check(peer.port, game), { outcome: 'fail', code: 'game_protocol' });
  t.match(await check(web.port, game), { outcome: 'fail', code: /^(game_protocol|broker_closed)$/, source: 'target' });
  await until(() => server.connections.size === 0, 'all connections are closed');
  await server.stop();
  t.match(await check(server.port, game), { outcome: 'fail', code: 'connect_refused' });
});

void t.test('addresses that may not be reached are not asked, and settings are bounded', async (t) => {
  t.match(await runCheck('gamedig', { url: '169.254.169.254' }, {}, testContext()), { code: 'address_denied' });
  const defaults = gamedig.settings().parse({});
  t.type(gamedig.validateTarget({ url: 'http://a' }, defaults), 'string');
  t.equal(gamedig.validateTarget({ url: 'play.example.com' }, defaults), undefined);
  t.equal(gamedig.settings().safeParse({ game: 'chess' }).success, false);
  t.equal(gamedig.settings().safeParse({ min_players: -1 }).success, false);
});
