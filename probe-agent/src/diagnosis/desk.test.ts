import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { lateness } from '@parallax/testkit/time-taken';
import t from 'tap';
import type { TestContext } from '@parallax/testkit';
import type { RunCheck } from '@parallax/wire';
import { anAssignment } from '../testing/control-plane.ts';
import { until } from '../testing/until.ts';
import { createDiagnosisDesk } from './desk.ts';

const request = (monitorId: number, deadlineMs = 5_000): RunCheck => ({
  requestId: `r${monitorId}`,
  monitorId,
  kind: 2,
  deadlineMs,
  assignment: undefined,
  trace: false,
  diagnose: true,
  readChain: false,
  expiresUs: 0n,
});

/** A server that does with a connection as told. */
async function peer(t: TestContext, handle: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    handle(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

const openDesk = (t: TestContext) => {
  const desk = createDiagnosisDesk({
    allowedPrivate: ['127.0.0.0/8'],
    sourceAddress: '127.0.0.31',
    userAgent: 'Test/1',
  });
  t.teardown(desk.stop);
  return desk;
};

void t.test('a target is looked at from this probe, without the secrets of the monitor', async (t) => {
  const from: (string | undefined)[] = [];
  const asked: string[] = [];
  const { port } = await peer(t, (socket) => {
    from.push(socket.remoteAddress);
    socket.on('data', (data) => {
      asked.push(data.toString());
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi');
    });
  });
  const settings = { password: 'canary', username: 'canary', secret_headers: { 'X-Key': 'canary' } };
  const answer = await openDesk(t).answer(
    request(1),
    anAssignment({
      monitorId: 1,
      protocol: 'http',
      url: `http://canary:canary@localhost:${port}/page`,
      settingsJson: Buffer.from(JSON.stringify(settings)),
    }),
  );
  t.match(answer, { requestId: 'r1', refused: '' });
  t.equal(answer.outcomeJson.length, 0, 'a diagnosis is no check');
  const found: unknown = JSON.parse(answer.diagnosisJson.toString());
  t.match(found, { host: 'localhost', port, answer: { status: 200, body: 'hi' } });
  t.ok(from.length > 0 && from.every((address) => address === '127.0.0.31'), 'from where its checks come');
  t.notMatch(asked.join() + answer.diagnosisJson.toString(), 'canary');
});

void t.test('one at a time of a monitor, four in all; what is not assigned is refused', async (t) => {
  const { port, sockets } = await peer(t, (socket) => socket.resume());
  const desk = openDesk(t);
  const of = (monitorId: number) =>
    desk.answer(request(monitorId), anAssignment({ monitorId, protocol: 'http', url: `http://127.0.0.1:${port}/` }));
  const running = [1, 2, 3, 4].map(of);
  await until('all four have connected', () => sockets.size >= 4);
  t.match(await of(2), { requestId: 'r2', refused: /under way/ });
  t.match(await of(5), { refused: /limit/ });
  t.match(await desk.answer(request(6), undefined), { refused: /not assigned/ });
  desk.stop();
  for (const answer of await Promise.all(running)) t.equal(answer.refused, '');
  await until('nothing is left', () => sockets.size === 0);
  t.match(await of(1), { refused: '' }, 'its place is free again');
});

void t.test('a look is over when its time is, and listeners of the product are not reached', async (t) => {
  const { port, sockets } = await peer(t, (socket) => socket.resume());
  const desk = openDesk(t);
  const assignment = anAssignment({ monitorId: 1, protocol: 'http', url: `http://127.0.0.1:${port}/` });
  const broken = { ...assignment, settingsJson: Buffer.from('{broken') };
  const { result, late } = await lateness(200, () => desk.answer(request(1, 200), broken));
  t.ok(late < 2_800);
  t.match(JSON.parse(result.diagnosisJson.toString()), { answer: { trouble: { code: 'http_timeout' } } });
  await until('nothing is left', () => sockets.size === 0);
  desk.denyListeners([{ address: '127.0.0.1', port }]);
  const denied = await desk.answer(request(1), assignment);
  t.match(JSON.parse(denied.diagnosisJson.toString()), { connections: [{ trouble: { code: 'address_denied' } }] });
});

void t.test(
  'a certificate chain is read instead of a diagnosis when it is asked for; a paused monitor is sent along',
  async (t) => {
    const { port } = await peer(t, (socket) => socket.end('no TLS here'));
    const assignment = anAssignment({
      monitorId: 3,
      protocol: 'ssl',
      url: `127.0.0.1:${port}`,
      settingsJson: Buffer.from('{}'),
    });
    const desk = openDesk(t);
    const answer = await desk.answer({ ...request(3), readChain: true }, assignment);
    t.match(answer, { refused: '' });
    t.equal(answer.diagnosisJson.length + answer.outcomeJson.length, 0);
    t.same(JSON.parse(answer.chainJson.toString()), { code: 'tls_handshake' });
    t.match(await desk.answer({ ...request(3), readChain: true }, undefined), { refused: /not assigned/ });
  },
);
