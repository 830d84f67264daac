import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { databaseAccount, isReachable, type Account } from './data-folder.mjs';
import { endLeftoverPostgres } from './postgres-leftover.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { openDataFolder, privateFolder, socketFolder } from './private-folder.ts';
import { exitText, runProcess, type ProcessExit, type ProcessLog, type ProcessSpec } from './run-process.ts';

export type PostgresOptions = {
  /** The data folder of Parallax; PostgreSQL gets `postgres/` in it. */
  readonly dataDir: string;
  /** False only in tests: commits are not synced and a crash may damage the data. */
  readonly durable: boolean;
  readonly log: ProcessLog;
  /** More settings of the server, such as `{ max_connections: '200' }`. */
  readonly settings?: Readonly<Record<string, string>>;
};

export type PostgresUrl = (database: string, user?: string) => string;

/** The superuser of the embedded server, who owns the schema and runs migrations. */
export const postgresOwner = 'parallax_owner';

const port = 5432;
const socketName = `.s.PGSQL.${port}`;
const durableSettings = { shared_buffers: '256MB', max_connections: '120', max_wal_size: '2GB', jit: 'off' };
const fleetingSettings = {
  shared_buffers: '64MB',
  max_connections: '300',
  jit: 'off',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
};

/**
 * Makes everything ready for PostgreSQL to be started: ends what an earlier run left, finds or copies the binaries, initialises the
 * data once. Safe to call before every start. The server listens on a Unix socket in a folder of mode 0700 and nowhere else.
 */
export async function preparePostgres(
  options: PostgresOptions,
): Promise<{ readonly spec: ProcessSpec; readonly url: PostgresUrl }> {
  const account = databaseAccount();
  openDataFolder(options.dataDir, account);
  const data = path.join(options.dataDir, 'postgres');
  if (!isReachable(options.dataDir, account)) {
    throw new Error(
      `PostgreSQL runs as ${account?.name ?? 'you'}, who cannot enter ${options.dataDir}: choose another PARALLAX_DATA_DIR`,
    );
  }
  await endLeftoverPostgres(data, options.log);
  const { folder: binaries, major } = postgresBinaries(options.dataDir, account);
  if (!existsSync(path.join(data, 'PG_VERSION'))) await initialise(options, data, binaries, account);
  refuseOtherMajor(data, major);
  const sockets = socketFolder(options.dataDir, 'postgres-socket', `${socketName}.lock`, account);
  // No server of this data runs now, and no other one uses this folder. After a crash the number in the lock may be somebody else's.
  rmSync(path.join(sockets, `${socketName}.lock`), { force: true });

  const settings = {
    ...(options.durable ? durableSettings : fleetingSettings),
    ...options.settings,
    listen_addresses: '',
    unix_socket_directories: sockets,
    unix_socket_permissions: '0700',
    log_line_prefix: '',
    // A statement may hold a secret, so none is written down.
    log_min_error_statement: 'panic',
  };
  const spec: ProcessSpec = {
    name: 'PostgreSQL',
    command: path.join(binaries, 'bin/postgres'),
    args: [
      '-D',
      data,
      '-p',
      String(port),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    env: environment,
    cwd: data,
    ...ids(account),
    readiness: { line: /database system is ready to accept connections/, timeoutMs: 300_000 },
    // SIGINT rolls back and ends sessions, SIGQUIT ends at once and recovers at the next start.
    stopSteps: [
      { signal: 'SIGINT', waitMs: 5_000 },
      { signal: 'SIGQUIT', waitMs: 2_000 },
    ],
    onLine: (line) => logLine(options.log, line),
  };
  return { spec, url: (database, user = postgresOwner) => socketUrl(sockets, database, user) };
}

/** `preparePostgres` and start. Rejects when it does not come up. */
export async function startPostgres(options: PostgresOptions): Promise<{
  readonly url: PostgresUrl;
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
  stop(): Promise<void>;
}> {
  const { spec, url } = await preparePostgres(options);
  const running = await runProcess(spec);
  return { url, pid: running.pid, exited: running.exited, stop: () => running.stop().then(() => undefined) };
}

/** The folder stands where the host would be, percent-encoded: with `?host=` some clients silently dial TCP instead. */
function socketUrl(sockets: string, database: string, user: string): string {
  return `postgresql://${encodeURIComponent(user)}@${encodeURIComponent(sockets)}/${encodeURIComponent(database)}`;
}

const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

function ids(account: Account | undefined): { readonly uid?: number; readonly gid?: number } {
  return account === undefined ? {} : { uid: account.uid, gid: account.gid };
}

/** Into a folder beside, then renamed: an initialisation that was cut off is never taken for a database. */
async function initialise(
  options: PostgresOptions,
  data: string,
  binaries: string,
  account: Account | undefined,
): Promise<void> {
  const scratch = privateFolder(mkdtempSync(path.join(options.dataDir, 'postgres-new-')), account);
  const lines: string[] = [];
  const initdb = await runProcess({
    name: 'initdb',
    command: path.join(binaries, 'bin/initdb'),
    args: [
      `--pgdata=${scratch}`,
      `--username=${postgresOwner}`,
      '--auth-local=trust',
      '--auth-host=reject',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--locale=C.UTF-8',
      '--no-instructions',
      ...(options.durable ? [] : ['--no-sync']),
    ],
    env: environment,
    cwd: scratch,
    ...ids(account),
    readiness: { check: () => Promise.resolve(true), everyMs: 10, timeoutMs: 1_000 },
    stopSteps: [],
    onLine: (line) => lines.push(line),
  });
  const exit = await initdb.exited;
  if (exit.code !== 0)
    throw new Error(`initdb ended with ${exitText(exit)} in ${scratch}:\n${lines.slice(-20).join('\n')}`);
  chmodSync(scratch, 0o700);
  renameSync(scratch, data);
}

function refuseOtherMajor(data: string, major: number): void {
  const found = readFileSync(path.join(data, 'PG_VERSION'), 'utf8').trim();
  if (found !== String(major)) {
    throw new Error(
      `${data} was made by PostgreSQL ${found} and this is ${major}: back it up with the version that made it and restore the backup here`,
    );
  }
}

const levels: Readonly<Record<string, 'debug' | 'info' | 'warn' | 'error'>> = {
  LOG: 'debug',
  WARNING: 'warn',
  ERROR: 'info',
  FATAL: 'warn',
  PANIC: 'error',
};

function logLine(log: ProcessLog, line: string): void {
  const level = levels[/^([A-Z]+): /.exec(line)?.[1] ?? ''] ?? 'debug';
  log[level]({ program: 'postgres' }, line);
}
