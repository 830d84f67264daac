import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import t from 'tap';
import { readRunning } from '../../control-plane/src/supervisor/index.ts';
import { endLeftChildren, recordedChildren } from '../harness/children.ts';
import { newInstallation, signedIn, untilReady } from '../harness/product.ts';
import type { ApiClient, Installation } from '../harness/product.ts';
import { eventually, startCommand } from '../harness/processes.ts';
import type { Started } from '../harness/processes.ts';

type Heartbeat = {
  readonly id: number;
  readonly uuid: string;
  readonly status: string;
  readonly deadline_at: string | null;
};

/** The product with at most so many open files for each of its processes. */
function start({ environment, dataDir }: Installation, openFiles: number): Started {
  const product = ['control-plane/src/main.ts', 'up'];
  return startCommand(
    '/bin/sh',
    ['-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh', process.execPath, ...product],
    environment,
    path.join(dataDir, 'output.log'),
  );
}

function database({ dataDir }: Installation): pg.Pool {
  const urls = readRunning(dataDir)?.database_urls;
  if (urls === undefined || urls === null) throw new Error('the product does not run with a database of its own');
  const pool = new pg.Pool({ connectionString: urls.worker, max: 2 });
  pool.on('error', () => undefined);
  return pool;
}

const make = (api: ApiClient, workspaceId: number, fields: object): Promise<Heartbeat> =>
  api.call('POST', `/api/v1/heartbeats?workspace_id=${workspaceId}`, 201, fields);

t.test(
  'killed in the middle of a grace period, it notices the miss once, with the outage credited',
  { timeout: 600_000 },
  async (t) => {
    const installation = await newInstallation({ PARALLAX_LOG_LEVEL: 'warn', PARALLAX_LIMITS: 'ping=1000000' });
    let supervisor = start(installation, 4_096);
    t.teardown(async () => {
      await supervisor.stop(15_000);
      await endLeftChildren(installation.dataDir);
      installation.remove();
    });
    await untilReady(installation, supervisor);
    const { api, workspaceId } = await signedIn(installation.baseUrl);
    const missed = await make(api, workspaceId, {
      name: 'missed',
      expected_interval_seconds: 3,
      grace_period_seconds: 20,
    });
    const busy = await make(api, workspaceId, { name: 'busy' });
    await fetch(`${installation.baseUrl}/ping/${missed.uuid}`);
    const before = await api.call<Heartbeat>('GET', `/api/v1/heartbeats/${missed.id}`, 200);

    // Signals come all the while; what was answered with OK is committed.
    let answered = 0;
    const over = new AbortController();
    const client = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const text = await fetch(`${installation.baseUrl}/ping/${busy.uuid}`, { signal: AbortSignal.timeout(2_000) })
          .then((answer) => answer.text())
          .catch(() => '');
        if (text === 'OK') answered += 1;
        else await delay(50);
      }
    };
    const clients = Promise.all([1, 2, 3, 4].map(client));
    await eventually('the heartbeat to be late', async () => {
      const { status } = await api.call<Heartbeat>('GET', `/api/v1/heartbeats/${missed.id}`, 200);
      if (status !== 'late') throw new Error(status);
      return true;
    });
    const diedMs = Date.now();
    const pids = [supervisor.pid, ...recordedChildren(installation.dataDir).values()];
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await supervisor.ended;
    over.abort();
    await clients;
    // Longer than a busy moment, and until after the deadline.
    await delay(Math.max(11_000, Date.parse(before.deadline_at ?? '') + 1_000 - Date.now()));
    supervisor = start(installation, 4_096);
    await untilReady(installation, supervisor);
    const downMs = Date.now() - diedMs;
    // The supervisor notes it a moment after the rest is ready.
    const pool = await eventually('the database to be known', async () => database(installation));
    t.teardown(() => pool.end());
    const stored = await pool.query<{ n: string }>(
      'select count(*) as n from heartbeat_pings where heartbeat_id = $1',
      [busy.id],
    );
    t.ok(
      answered > 0 && Number(stored.rows[0]?.n) >= answered,
      `${answered} were answered, ${stored.rows[0]?.n} are stored`,
    );

    const login = { email: 'first@example.org', password: 'a long enough passphrase' };
    const { access_token: token } = await api.call<{ access_token: string }>('POST', '/api/v1/auth/login', 200, login);
    const again = api.withToken(token);
    const after = await again.call<Heartbeat>('GET', `/api/v1/heartbeats/${missed.id}`, 200);
    t.equal(after.status, 'late', 'nothing is missed in the outage');
    const movedMs = Date.parse(after.deadline_at ?? '') - Date.parse(before.deadline_at ?? '');
    t.ok(movedMs >= 60_000 + 11_000, `the deadline was moved by ${movedMs} ms`);
    t.ok(movedMs <= 60_000 + downMs + 10_000, `for an outage of ${downMs} ms`);
    await eventually(
      'the miss to be noticed',
      async () => {
        const { status } = await again.call<Heartbeat>('GET', `/api/v1/heartbeats/${missed.id}`, 200);
        if (status !== 'down') throw new Error(status);
        return true;
      },
      { timeoutMs: 180_000 + downMs, everyMs: 1_000 },
    );
    t.ok(Date.now() >= Date.parse(after.deadline_at ?? ''), 'not before the deadline');
    const told = await pool.query<{ kind: string }>('select kind from outbox where key = $1 order by id', [
      `heartbeat:${missed.id}`,
    ]);
    t.same(told.rows, [{ kind: 'heartbeat.missed' }], 'once');
  },
);

t.test('ten thousand hanging clients under a limit of 4,096 files stop nobody', { timeout: 600_000 }, async (t) => {
  const installation = await newInstallation({ PARALLAX_LOG_LEVEL: 'warn', PARALLAX_LIMITS: 'ping=1000000' });
  const supervisor = start(installation, 4_096);
  t.teardown(async () => {
    await supervisor.stop(15_000);
    installation.remove();
  });
  await untilReady(installation, supervisor);
  const { api, workspaceId } = await signedIn(installation.baseUrl);
  const made = await make(api, workspaceId, { name: 'busy' });
  const port = installation.ports.http;

  // Each begins a ping and never ends it, in its headers or in its body, from four addresses.
  const open = new Set<Socket>();
  const hang = async (number: number): Promise<void> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${2 + (number % 4)}` });
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined);
    if (socket.destroyed) return;
    open.add(socket);
    // Read, or the end is never seen.
    socket.resume();
    const head = `POST /ping/${made.uuid} HTTP/1.1\r\nhost: localhost\r\n`;
    socket.write(number % 2 === 0 ? head : `${head}content-length: 10\r\n\r\nabc`);
  };
  let answered = 0;
  let refused = 0;
  const done = new AbortController();
  const sending = (async () => {
    for (let hung = 0; hung < 10_000; hung += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, index) => hang(hung + index)));
    }
    done.abort();
  })();
  const beganMs = Date.now();
  // A ping that is given up here may be stored all the same, so none is given up on a slow machine.
  while (!done.signal.aborted || Date.now() - beganMs < 20_000) {
    const text = await fetch(`http://127.0.0.1:${port}/ping/${made.uuid}`, { signal: AbortSignal.timeout(60_000) })
      .then((answer) => answer.text())
      .catch((error: unknown) => String(error));
    if (text === 'OK') answered += 1;
    else refused += 1;
    await delay(5);
  }
  await sending;
  t.ok(answered > 10, `${answered} pings were answered meanwhile`);
  t.equal(refused, 0, 'none was refused');
  const cut = async (): Promise<boolean> => {
    if (open.size > 0) throw new Error(`${open.size} are open`);
    return true;
  };
  await eventually('the hanging ones to be cut off', cut, { timeoutMs: 240_000 });
  const pool = await eventually('the database to be known', async () => database(installation));
  t.teardown(() => pool.end());
  const { rows } = await pool.query<{ n: string }>(
    'select count(*) as n from heartbeat_pings where heartbeat_id = $1',
    [made.id],
  );
  t.equal(Number(rows[0]?.n), answered, 'what was answered is stored, and nothing else');
});
