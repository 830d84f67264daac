import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { endRecordedProcess, forgetProcess, recordProcess, type SignalStep } from './process-identity.ts';
import { runProcess, type ProcessExit, type ProcessLog, type ProcessSpec } from './run-process.ts';

/** What the server needs to know in operator mode; the seeds behind it stay with the caller. Nothing of it is secret. */
export type NatsOperator = {
  readonly operatorJwt: string;
  /** Public key of the system account; its JWT must be among `accounts`. */
  readonly systemAccount: string;
  /** JWT of each account by its public key, with the revocations in it. */
  readonly accounts: Readonly<Record<string, string>>;
};

/** PEM texts: the chain of the server, and its key. */
export type NatsTls = { readonly certificatePem: string; readonly keyPem: string };

export type NatsOptions = {
  /** Path of the nats-server, see `findNatsServer`. */
  readonly binary: string;
  /** The data folder of Parallax; nats-server gets `nats/` in it. */
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  readonly log: ProcessLog;
  /** Absent only in tests: everybody may do everything. */
  readonly operator?: NatsOperator;
  readonly tls?: NatsTls;
  /** Address and port of its own health and metrics; absent: none. Whoever reaches it sees who is connected. */
  readonly monitor?: { readonly host: string; readonly port: number };
  readonly maxFileBytes?: number;
  readonly maxMemoryBytes?: number;
  /** Largest message, in bytes. */
  readonly maxPayloadBytes?: number;
};

const stopSteps: readonly SignalStep[] = [
  { signal: 'SIGTERM', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
];

/**
 * Makes everything ready for nats-server to be started: ends what an earlier run left, writes its configuration, certificate and
 * accounts from what is given. Safe to call before every start; only the store of JetStream lives longer than a run.
 */
export async function prepareNats(
  options: NatsOptions,
): Promise<{ readonly spec: ProcessSpec; readonly record: string }> {
  const folder = path.join(options.dataDir, 'nats');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const record = path.join(folder, 'process.json');
  const ended = await endRecordedProcess(record, stopSteps);
  if (ended !== undefined) options.log.info({ pid: ended.pid }, 'ended the nats-server of an earlier run');
  const config = path.join(folder, 'nats-server.conf');
  if (options.tls !== undefined) writeTls(folder, options.tls);
  if (options.operator !== undefined) emptyAccounts(folder);
  replaceFile(config, natsConfiguration(folder, options));
  const spec: ProcessSpec = {
    name: 'nats-server',
    command: options.binary,
    args: ['-c', config],
    env: { PATH: '/usr/bin:/bin', HOME: folder, TZ: 'UTC' },
    cwd: folder,
    readiness: { line: /Server is ready/, timeoutMs: 60_000 },
    stopSteps: stopSteps.slice(0, 1),
    onLine: (line) => logLine(options.log, line),
  };
  return { spec, record };
}

/** `prepareNats` and start. Rejects, with its last lines, when it does not come up (a taken port, a refused configuration). */
export async function startNats(options: NatsOptions): Promise<{
  readonly pid: number;
  readonly url: string;
  readonly exited: Promise<ProcessExit>;
  stop(): Promise<void>;
}> {
  const { spec, record } = await prepareNats(options);
  const running = await runProcess(spec, { onSpawn: ({ identity }) => recordProcess(record, identity) });
  return {
    pid: running.pid,
    url: `${options.tls === undefined ? 'nats' : 'tls'}://${shownHost(options.host)}:${options.port}`,
    exited: running.exited,
    stop: async () => {
      await running.stop();
      forgetProcess(record);
    },
  };
}

/**
 * The text of a configuration file. The server keeps its store in `jetstream/`, and the JWT of accounts in `accounts/`, of the
 * folder, and finds `certificate.pem` and `key.pem` there when `tls` is given.
 * @throws for what could add a line to it
 */
export function natsConfiguration(folder: string, options: Omit<NatsOptions, 'binary' | 'dataDir' | 'log'>): string {
  const lines = [
    `listen: ${quoted(`${shownHost(options.host)}:${options.port}`)}`,
    'server_name: "parallax"',
    `max_payload: ${options.maxPayloadBytes ?? 1_048_576}`,
    'write_deadline: "10s"',
    'logtime: false',
    ...(options.monitor === undefined
      ? []
      : [`http: ${quoted(`${shownHost(options.monitor.host)}:${options.monitor.port}`)}`]),
    'jetstream {',
    `  store_dir: ${quoted(path.join(folder, 'jetstream'))}`,
    `  max_file_store: ${options.maxFileBytes ?? 4 * 1024 ** 3}`,
    `  max_memory_store: ${options.maxMemoryBytes ?? 64 * 1024 ** 2}`,
    '}',
  ];
  if (options.tls !== undefined) {
    const [certificate, key] = tlsFiles(folder);
    lines.push('tls {', `  cert_file: ${quoted(certificate)}`, `  key_file: ${quoted(key)}`, '  timeout: 5', '}');
  }
  if (options.operator !== undefined) {
    const { operatorJwt, systemAccount, accounts } = options.operator;
    lines.push(
      `operator: ${token(operatorJwt)}`,
      `system_account: ${token(systemAccount)}`,
      'resolver {',
      '  type: full',
      `  dir: ${quoted(accountsFolder(folder))}`,
      '  allow_delete: false',
      '  limit: 1000',
      '}',
      'resolver_preload {',
      ...Object.entries(accounts).map(([account, jwt]) => `  ${token(account)}: ${token(jwt)}`),
      '}',
    );
  }
  return `${lines.join('\n')}\n`;
}

/** The accounts are given whole at every start; one that an earlier run was pushed must not outlive that. */
function emptyAccounts(folder: string): void {
  const accounts = accountsFolder(folder);
  mkdirSync(accounts, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(accounts)) if (name.endsWith('.jwt')) rmSync(path.join(accounts, name));
}

function accountsFolder(folder: string): string {
  return path.join(folder, 'accounts');
}

function writeTls(folder: string, tls: NatsTls): void {
  const [certificate, key] = tlsFiles(folder);
  replaceFile(certificate, tls.certificatePem);
  replaceFile(key, tls.keyPem);
}

function tlsFiles(folder: string): [certificate: string, key: string] {
  return [path.join(folder, 'certificate.pem'), path.join(folder, 'key.pem')];
}

function replaceFile(file: string, content: string): void {
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** A string of its configuration language, where a backslash and a quotation mark must be escaped. */
function quoted(text: string): string {
  if (/[\r\n]/.test(text))
    throw new Error(`a path or address for nats-server has a line break in it: ${JSON.stringify(text)}`);
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** A JWT or public key, which stands bare and must not be able to add a line. */
function token(text: string): string {
  if (!/^[A-Za-z0-9._-]+$/.test(text))
    throw new Error('a JWT or public key for nats-server has characters that do not belong in one');
  return text;
}

function shownHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function logLine(log: ProcessLog, line: string): void {
  const level = /\[(ERR|FTL)\]/.test(line) ? 'error' : line.includes('[WRN]') ? 'warn' : 'debug';
  log[level]({ program: 'nats-server' }, line);
}
