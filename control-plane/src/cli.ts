import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { chooseDataFolder } from '@parallax/embedded';
import { controlPlaneSettings, decodeKey, readSettings, SettingsError, settingsTable } from '@parallax/settings';
import type { ControlPlaneSettings, Environment } from '@parallax/settings';
import { createLogger, createShutdown } from '@parallax/telemetry';
import { Problem } from '@parallax/api-contract';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { databaseUrls } from './database-urls.ts';
import { InstallationError, openInstallation, prepareInstallation } from './installation/index.ts';
import { createJoinToken, joinCommand } from './monitoring/probes/index.ts';
import { describeRoutes } from './openapi-document.ts';
import { places } from './places.ts';
import { migrate, MigrationError } from './platform/database/migrate.ts';
import { openDatabase } from './platform/database/pools.ts';
import { serve } from './serve.ts';
import { readRunning, runUp } from './supervisor/index.ts';
import type { InstallationInput, UpParts } from './supervisor/index.ts';
import { version } from './version.ts';

const checkout = path.resolve(import.meta.dirname, '../..');

/** Something a person can mend; printed without a stack. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Runs one command of the control plane; gives the exit code. */
export async function runCli(argv: readonly string[], env: Environment): Promise<number> {
  try {
    await createProgram(env).parseAsync([...argv]);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    const explained = [UsageError, SettingsError, InstallationError, MigrationError, Problem].some(
      (kind) => error instanceof kind,
    );
    const text = error instanceof Error ? (explained ? error.message : (error.stack ?? error.message)) : String(error);
    process.stderr.write(`control-plane: ${text}\n`);
    return 1;
  }
}

function createProgram(env: Environment): Command {
  const program = new Command('control-plane')
    .description('Holds monitors and accounts, hands assignments to probes, decides by consensus.')
    .version(version)
    .exitOverride()
    .addHelpText(
      'after',
      `
Examples:
  control-plane up                                             everything on this machine, as npm start does
  control-plane join-token create --name helsinki-1 --region eu-north
  control-plane openapi > openapi.json

Settings are environment variables PARALLAX_…; control-plane settings lists them.`,
    );
  program
    .command('up')
    .description('run everything on this machine: PostgreSQL, nats-server, the control plane and local probes')
    .action(() => runUp({ env, checkout, parts: upParts() }));
  program
    .command('serve')
    .description('run the control plane alone, with the roles of PARALLAX_ROLES')
    .action(() => runServe(env));
  program
    .command('prepare')
    .description('migrate the database and make the keys that are missing')
    .action(async () => {
      const { settings, databaseUrl } = settingsWithDatabase(env);
      const { migrated } = await prepare(settings, databaseUrl);
      print(migrated.length === 0 ? 'the installation is up to date' : `migrated: ${migrated.join(', ')}`);
    });
  program
    .command('migrate')
    .description('bring the schema of the database up to date')
    .action(async () => {
      const ran = await migrate(settingsWithDatabase(env).databaseUrl);
      print(ran.length === 0 ? 'the schema is up to date' : `migrated: ${ran.join(', ')}`);
    });
  program
    .command('openapi')
    .description('print the OpenAPI document of the API')
    .action(() => print(JSON.stringify(describeRoutes(), null, 2)));
  program
    .command('settings')
    .description('print the table of all settings')
    .action(() => print(settingsTable(controlPlaneSettings)));
  const joinToken = program.command('join-token').description('one-time tokens that let a probe enrol');
  joinToken
    .command('create')
    .description('make a join token and print the command to run on the machine of the probe')
    .requiredOption('--name <name>', 'name of the probe')
    .requiredOption('--region <region>', 'region that it stands in, for example eu-north')
    .option('--minutes <number>', 'how long the token may be used, at most 1440', minutes, 10)
    .option('--json', 'print one JSON object')
    .action((options: { name: string; region: string; minutes: number; json?: boolean }) => runJoinToken(env, options));
  return program;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function minutes(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 1_440) {
    throw new InvalidArgumentError('a whole number of minutes from 1 to 1440 is expected');
  }
  return number;
}

async function runServe(env: Environment): Promise<void> {
  const { settings, databaseUrl } = settingsWithDatabase(env);
  const log = createLogger({ name: 'control-plane', level: settings.logLevel });
  const shutdown = createShutdown({ log });
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'a defect of the control plane');
    void shutdown.stop('a defect').then(() => process.exit(1));
  });
  try {
    await serve(settings, databaseUrl, log, shutdown);
  } catch (error) {
    await shutdown.stop('it could not start');
    throw error;
  }
}

async function runJoinToken(
  env: Environment,
  options: { name: string; region: string; minutes: number; json?: boolean },
): Promise<void> {
  const given = settingsWithDatabase(env);
  const token = await joinTokenOf(given.settings, given.databaseUrl, options);
  const enrolment = given.enrolmentAddress ?? places(given.settings).addresses.enrolment;
  const command = joinCommand(enrolment, token);
  if (options.json === true) print(JSON.stringify({ token, command }));
  else
    print(
      `Run this on the machine of the probe within ${options.minutes} minutes:\n\n  ${command}\n  probe-agent run\n`,
    );
}

async function joinTokenOf(
  settings: ControlPlaneSettings,
  databaseUrl: string,
  options: { name: string; region: string; minutes?: number },
): Promise<string> {
  const database = await openDatabase(databaseUrls(settings, databaseUrl), { api: 1, worker: 1 });
  try {
    const installation = await openInstallation({ ...keySource(settings), pool: database.worker, nowMs: Date.now() });
    const { token } = await createJoinToken(database.worker, {
      ...options,
      workspaceId: null,
      createdBy: null,
      fingerprint: installation.authority.fingerprint,
      random: (count) => randomBytes(count),
    });
    return token;
  } finally {
    await database.close();
  }
}

/** The settings and the database: as set, or that of the product that runs on the data folder. */
function settingsWithDatabase(env: Environment): {
  settings: ControlPlaneSettings;
  databaseUrl: string;
  /** As what runs here tells it, since a command is given fewer settings than that was. */
  enrolmentAddress?: string;
} {
  const settings = readSettings(controlPlaneSettings, env);
  if (settings.databaseUrl !== undefined) return { settings, databaseUrl: settings.databaseUrl };
  const { folder: dataDir } = chooseDataFolder({ named: settings.dataDir, checkout });
  const running = readRunning(dataDir);
  if (running === undefined) {
    throw new UsageError(
      `nothing runs on the data folder ${dataDir}: start Parallax with npm start, name its folder as PARALLAX_DATA_DIR, or set PARALLAX_DATABASE_URL`,
    );
  }
  const { database_urls: urls, enrolment_address: enrolmentAddress } = running;
  if (urls === null) {
    throw new UsageError(
      `what runs on the data folder ${dataDir} has its database elsewhere: set PARALLAX_DATABASE_URL as it was set for npm start`,
    );
  }
  return {
    settings: { ...settings, dataDir, databaseApiUrl: urls.api, databaseWorkerUrl: urls.worker },
    databaseUrl: urls.owner,
    enrolmentAddress,
  };
}

function keySource(settings: ControlPlaneSettings): { dataDir: string; keyEncryptionKey: Uint8Array | undefined } {
  return {
    dataDir: settings.dataDir ?? './data',
    keyEncryptionKey: settings.keyEncryptionKey === undefined ? undefined : decodeKey(settings.keyEncryptionKey),
  };
}

async function prepare(settings: ControlPlaneSettings, databaseUrl: string) {
  const { addresses } = places(settings);
  return prepareInstallation({
    ...keySource(settings),
    databaseUrls: databaseUrls(settings, databaseUrl),
    shards: settings.shards,
    serverNames: [...new Set([hostOf(addresses.session), hostOf(addresses.enrolment), hostOf(addresses.broker)])],
    nowMs: Date.now(),
  });
}

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':')).replace(/^\[|\]$/g, '');
}

function upParts(): UpParts {
  const program = (file: string, ...args: string[]) => ({
    command: process.execPath,
    args: [path.join(checkout, file), ...args],
  });
  const given = ({ settings, databaseUrls: urls }: InstallationInput) => ({
    settings: { ...settings, databaseApiUrl: urls.api, databaseWorkerUrl: urls.worker },
    databaseUrl: urls.owner,
  });
  return {
    prepareInstallation: (input) => prepare(given(input).settings, given(input).databaseUrl),
    createJoinToken: (input) => joinTokenOf(given(input).settings, given(input).databaseUrl, input),
    isEnrolled: (stateDir) => existsSync(path.join(stateDir, 'identity.json')),
    serve: program('control-plane/src/main.ts', 'serve'),
    readinessPath: '/health/readiness',
    agent: program('probe-agent/src/main.ts'),
  };
}
