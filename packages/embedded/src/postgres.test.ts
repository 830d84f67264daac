import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { keptLog, leakGuard, quietLog, type TestContext } from '@parallax/testkit';
import pg from 'pg';
import { createPool, sql } from 'slonik';
import { needs } from '@parallax/testkit/needs';
import t from 'tap';
import { databaseAccount, identityOf, startPostgres } from './index.ts';

leakGuard(t);

const seed = folder(t);
t.before(async () => {
  await (await startPostgres({ dataDir: seed, durable: true, log: quietLog })).stop();
});

function folder(t: TestContext): string {
  const made = mkdtempSync('/tmp/parallax-embedded-');
  t.teardown(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A data folder with an initialised database in it, copied: to initialise one takes longer than everything else. */
function initialised(t: TestContext): string {
  const dataDir = folder(t);
  if (spawnSync('/bin/cp', ['-a', path.join(seed, 'postgres'), dataDir]).status !== 0) throw new Error('cannot copy');
  return dataDir;
}

/** What a killed server leaves beside its socket. */
function leaveSocketLock(dataDir: string, pid: number): void {
  const sockets = path.join(dataDir, 'postgres-socket');
  mkdirSync(sockets, { mode: 0o700 });
  writeFileSync(path.join(sockets, '.s.PGSQL.5432.lock'), `${pid}\n${path.join(dataDir, 'postgres')}\n1\n5432\n\n`);
}

async function one(url: string, text: string): Promise<unknown> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return Object.values(rows[0] ?? {})[0];
  } finally {
    await client.end().catch(() => {});
  }
}

t.test('it starts, keeps data over a stop and listens on a private socket only, for pg and for slonik', async (t) => {
  const dataDir = folder(t);
  const first = await startPostgres({ dataDir, durable: true, log: quietLog });
  t.equal(await one(first.url('postgres'), 'select current_user::text'), 'parallax_owner');
  t.equal(await one(first.url('postgres'), 'select inet_server_addr() is null'), true);
  t.equal(await one(first.url('postgres'), "select current_setting('listen_addresses')"), '');
  await one(first.url('postgres'), 'create role "o-brien" login');
  t.equal(await one(first.url('postgres', 'o-brien'), 'select current_user::text'), 'o-brien');
  const pool = await createPool(first.url('postgres'));
  t.equal(await pool.oneFirst(sql.unsafe`select inet_server_addr() is null`), true);
  await pool.end();
  await one(first.url('postgres'), 'create table kept as select 1');
  const sockets = path.join(dataDir, 'postgres-socket');
  t.equal(lstatSync(sockets).mode & 0o777, 0o700);
  t.equal(lstatSync(path.join(sockets, '.s.PGSQL.5432')).mode & 0o777, 0o700);
  t.equal(tcpListeners(first.pid), 0);
  await first.stop();
  t.equal(identityOf(first.pid), undefined);

  const second = await startPostgres({ dataDir, durable: false, log: quietLog });
  t.equal(await one(second.url('postgres'), 'select count(*)::int from kept'), 1);
  await second.stop();
});

t.test('root runs it as an account without privileges', async (t) => {
  if (!needs(t, 'root')) return;
  const server = await startPostgres({ dataDir: initialised(t), durable: false, log: quietLog });
  t.equal(statSync(`/proc/${server.pid}`).uid, databaseAccount()?.uid);
  t.not(databaseAccount()?.uid, 0);
  await server.stop();
});

t.test('a server that was left behind is ended and a new one started, without loss', async (t) => {
  const dataDir = initialised(t);
  const left = await startPostgres({ dataDir, durable: false, log: quietLog });
  await one(left.url('postgres'), 'create table kept as select 1');
  const { log, lines } = keptLog('info');
  const healed = await startPostgres({ dataDir, durable: false, log });
  t.equal(identityOf(left.pid), undefined);
  t.match(lines, [{ pid: left.pid, msg: 'ending the PostgreSQL of an earlier run' }]);
  t.equal(await one(healed.url('postgres'), 'select count(*)::int from kept'), 1);
  await healed.stop();
});

t.test('after kill -9 it starts again with everything that was committed', async (t) => {
  const dataDir = initialised(t);
  const killed = await startPostgres({ dataDir, durable: true, log: quietLog });
  await one(killed.url('postgres'), 'create table kept as select 1');
  process.kill(killed.pid, 'SIGKILL');
  await killed.exited;
  const healed = await startPostgres({ dataDir, durable: true, log: quietLog });
  t.equal(await one(healed.url('postgres'), 'select count(*)::int from kept'), 1);
  await healed.stop();
});

t.test(
  'a postmaster.pid whose number belongs to another process by now does no harm, nor is that process harmed',
  async (t) => {
    const dataDir = initialised(t);
    const file = path.join(dataDir, 'postgres', 'postmaster.pid');
    writeFileSync(file, `${process.ppid}\n${path.join(dataDir, 'postgres')}\n1\n5432\n\n\n\n`);
    leaveSocketLock(dataDir, process.ppid);
    const server = await startPostgres({ dataDir, durable: false, log: quietLog });
    t.equal(Number.parseInt(readFileSync(file, 'utf8'), 10), server.pid);
    t.ok(identityOf(process.ppid));
    await server.stop();
  },
);

t.test('the postmaster.pid of a killed server that nobody has waited for yet does no harm', async (t) => {
  const dataDir = initialised(t);
  const file = path.join(dataDir, 'postgres', 'postmaster.pid');
  // The second program takes the place of the shell before the first one ends, and knows nothing of it.
  const parent = spawn('/bin/sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => parent.kill('SIGKILL'));
  const unreaped = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)));
  while (identityOf(unreaped) !== undefined) await sleep(10);
  t.ok(process.kill(unreaped, 0), 'the system still has the number');
  writeFileSync(file, `${unreaped}\n${path.join(dataDir, 'postgres')}\n1\n5432\n\n\n\n`);
  leaveSocketLock(dataDir, unreaped);
  const server = await startPostgres({ dataDir, durable: false, log: quietLog });
  t.equal(Number.parseInt(readFileSync(file, 'utf8'), 10), server.pid);
  await server.stop();
});

t.test('in a deep data folder the socket lies in a short private one, the same at the next start', async (t) => {
  const parent = folder(t);
  chmodSync(parent, 0o711);
  const dataDir = path.join(parent, 'a'.repeat(60), 'b'.repeat(60));
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  const first = await startPostgres({ dataDir, durable: false, log: quietLog });
  const url = first.url('postgres');
  t.equal(await one(url, 'select 1'), 1);
  await first.stop();
  const second = await startPostgres({ dataDir, durable: false, log: quietLog });
  t.equal(second.url('postgres'), url);
  await second.stop();
  const sockets = decodeURIComponent(/@([^/]+)\//.exec(url)?.[1] ?? '');
  t.equal(lstatSync(sockets).mode & 0o777, 0o700);
  rmSync(sockets, { recursive: true });
});

t.test('data of another major version is refused, with what to do', async (t) => {
  const dataDir = initialised(t);
  writeFileSync(path.join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
  await t.rejects(startPostgres({ dataDir, durable: false, log: quietLog }), {
    message: /made by PostgreSQL 17 and this is 18: back it up/,
  });
});

t.test('an ordinary user runs it as himself', async (t) => {
  if (!needs(t, 'root')) return;
  const dataDir = folder(t);
  chmodSync(dataDir, 0o777);
  const script = path.join(import.meta.dirname, 'start-and-stop.fixture.ts');
  const run = spawnSync(process.execPath, [script, path.join(dataDir, 'own')], {
    uid: 65_534,
    gid: 65_534,
    encoding: 'utf8',
    cwd: '/',
    env: {},
  });
  t.equal(run.status, 0, run.stderr);
  t.equal(run.stdout.trim(), '65534');
  t.equal(lstatSync(path.join(dataDir, 'own')).mode & 0o777, 0o700);
  t.ok(existsSync(path.join(dataDir, 'own', 'postgres', 'PG_VERSION')));
});

/** Listening TCP sockets among the open files of a process. */
function tcpListeners(pid: number): number {
  const listening = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === '0A')
      .map((fields) => `socket:[${fields[9]}]`),
  );
  const { stdout } = spawnSync('/bin/ls', ['-l', `/proc/${pid}/fd`], { encoding: 'utf8' });
  return listening.filter((socket) => stdout.includes(socket)).length;
}
