import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { FolderInUseError } from '@parallax/embedded';
import {
  agentSettings,
  controlPlaneSettings,
  explicitSettings,
  SettingsError,
  settingsTable,
  withConfigFile,
} from '@parallax/settings';
import type { ControlPlaneSettings, Environment } from '@parallax/settings';
import { createLogger, createShutdown } from '@parallax/telemetry';
import { Problem } from '@parallax/api-contract';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { addAsCodeCommands } from './as-code-commands.ts';
import { addImportCommand } from './import-command.ts';
import { addBackupCommands } from './backup-commands.ts';
import { checkout, keySource, settingsWithDatabase, UsageError } from './command-settings.ts';
import { listenPlace, runNatsFiles, runProvideJoinTokens, wantedProbe } from './container-commands.ts';
import type { NatsFileFlags } from './container-commands.ts';
import { databaseUrls } from './database-urls.ts';
import {
  BackupError,
  InstallationError,
  makeDatabaseSecrets,
  openInstallation,
  prepareInstallation,
} from './installation/index.ts';
import type { WantedProbe } from './installation/index.ts';
import { LimitsError } from './identity/plans/index.ts';
import { AsCodeError } from './monitoring/as-code/index.ts';
import { createJoinToken, joinCommand, revokeAbsentProbe } from './monitoring/probes/index.ts';
import { describeRoutes } from './openapi-document.ts';
import { places } from './places.ts';
import { migrate, MigrationError } from './platform/database/migrate.ts';
import { openDatabase } from './platform/database/pools.ts';
import { MailSettingsError } from './platform/mail/index.ts';
import { addRecomputeCommand } from './recompute-command.ts';
import { addKeysCommands } from './keys-commands.ts';
import { serve } from './serve.ts';
import { runUp } from './supervisor/index.ts';
import type { InstallationInput, UpParts } from './supervisor/index.ts';
import { addUserCommands } from './user-command.ts';
import { version } from './version.ts';

/** Runs one command of the control plane; gives the exit code. */
export async function runCli(argv: readonly string[], env: Environment): Promise<number> {
  try {
    const given = withConfigFile(controlPlaneSettings, argv, env, [agentSettings]);
    await createProgram(given.env).parseAsync([...given.argv]);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    const explained = [
      UsageError,
      SettingsError,
      InstallationError,
      BackupError,
      MigrationError,
      MailSettingsError,
      FolderInUseError,
      Problem,
      LimitsError,
      AsCodeError,
    ].some((kind) => error instanceof kind);
    const text = error instanceof Error ? (explained ? error.message : (error.stack ?? error.message)) : String(error);
    process.stderr.write(`control-plane: ${text}\n`);
    return 1;
  }
}

function createProgram(env: Environment): Command {
  const program = new Command('control-plane')
    .description('Holds monitors and accounts, hands assignments to probes, decides by consensus.')
    .version(version)
    .option('--config <file>', 'settings as lines NAME=value, beside those of the environment')
    .exitOverride()
    .addHelpText(
      'after',
      `
Examples:
  control-plane up                                             everything on this machine, as npm start does
  control-plane join-token create --name helsinki-1 --region eu-north
  control-plane openapi > openapi.json

Settings are environment variables PARALLAX_…; control-plane settings lists them. With --config FILE, or PARALLAX_CONFIG_FILE, they
also come from lines NAME=value of a file; what the environment names wins.`,
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
    .option('--nats-dir <folder>', 'also write there what a nats-server needs that is started by others')
    .option('--nats-listen <host:port>', 'where that nats-server listens', listenPlace, { host: '0.0.0.0', port: 4222 })
    .option('--nats-monitor <host:port>', 'where it answers about its health; not at all when absent', listenPlace)
    .action(async (flags: NatsFileFlags) => {
      const { settings, databaseUrl } = settingsWithDatabase(env);
      const { migrated } = await prepare(settings, databaseUrl);
      print(migrated.length === 0 ? 'the installation is up to date' : `migrated: ${migrated.join(', ')}`);
      const { natsDir } = flags;
      if (natsDir === undefined) return;
      const written = await runNatsFiles(settings, databaseUrl, { ...flags, natsDir });
      print(`${natsDir}: ${written.length === 0 ? 'nothing changed' : `wrote ${written.join(', ')}`}`);
    });
  program
    .command('database-secrets')
    .description('make passwords and URLs for the three logins of a new PostgreSQL; what is there is kept')
    .requiredOption('--dir <folder>', 'folder of the files')
    .requiredOption('--place <host:port>', 'where the PostgreSQL is dialled')
    .option('--database <name>', 'name of the database', 'parallax')
    .action(async ({ dir, place, database }: { dir: string; place: string; database: string }) => {
      const { host, port } = listenPlace(place);
      const shown = host.includes(':') ? `[${host}]` : host;
      const written = await makeDatabaseSecrets({
        folder: dir,
        place: `${shown}:${port}`,
        database,
        random: randomBytes,
      });
      print(`${dir}: ${written.length === 0 ? 'nothing changed' : `wrote ${written.join(', ')}`}`);
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
  addAsCodeCommands(program, env);
  addImportCommand(program, env);
  addBackupCommands(program, env);
  addKeysCommands(program, env);
  addRecomputeCommand(program, env);
  addUserCommands(program, env);
  const joinToken = program.command('join-token').description('one-time tokens that let a probe enrol');
  joinToken
    .command('create')
    .description('make a join token and print the command to run on the machine of the probe')
    .requiredOption('--name <name>', 'name of the probe')
    .requiredOption('--region <region>', 'region that it stands in, for example eu-north')
    .option('--minutes <number>', 'how long the token may be used, at most 1440', minutes, 10)
    .option('--json', 'print one JSON object')
    .action((options: { name: string; region: string; minutes: number; json?: boolean }) => runJoinToken(env, options));
  joinToken
    .command('provide')
    .description('keep a usable join token in a file for each probe that is not registered yet')
    .requiredOption('--dir <folder>', 'folder of the files, each with the name of its probe')
    .requiredOption('--probe <name=region>', 'a probe and its region; may be repeated', wantedProbe)
    .action(async (options: { dir: string; probe: readonly WantedProbe[] }) => {
      const { settings, databaseUrl } = settingsWithDatabase(env);
      for (const { name, outcome } of await runProvideJoinTokens(settings, databaseUrl, options))
        print(`${name}: ${outcomeTexts[outcome]}`);
    });
  return program;
}

const outcomeTexts = {
  registered: 'is registered; to register it anew, revoke it first (DELETE /api/v1/probes/ID)',
  kept: 'has a token that may still be used',
  written: 'has a new token, good for a day',
} as const;

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
  // A replica need not name what is fixed in the database; one that names something else is set up for another installation.
  const namedShards = explicitSettings(controlPlaneSettings, env).has('shards') ? settings.shards : undefined;
  try {
    await serve(settings, databaseUrl, log, shutdown, namedShards);
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
  options: { name: string; region: string; minutes?: number; replacesAbsent?: boolean },
): Promise<string> {
  const database = await openDatabase(databaseUrls(settings, databaseUrl), { api: 1, worker: 1 });
  try {
    const installation = await openInstallation({ ...keySource(settings), pool: database.worker, nowMs: Date.now() });
    if (options.replacesAbsent === true) await revokeAbsentProbe(database.worker, options.name, options.region);
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

/** What Node is told for an agent, as its executable is: what is new in memory would grow to 125 MB otherwise, for collections that take long. */
function agentNodeOptions(): string[] {
  return JSON.parse(readFileSync(path.join(checkout, 'probe-agent/node-options.json'), 'utf8')) as string[];
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
    createJoinToken: (input) =>
      joinTokenOf(given(input).settings, given(input).databaseUrl, { ...input, replacesAbsent: true }),
    isEnrolled: (stateDir) => existsSync(path.join(stateDir, 'identity.json')),
    serve: program('control-plane/src/main.ts', 'serve'),
    readinessPath: '/health/readiness',
    agent: { command: process.execPath, args: [...agentNodeOptions(), path.join(checkout, 'probe-agent/src/main.ts')] },
  };
}
