import { FolderInUseError } from '@parallax/embedded/errors';
import { Problem } from '@parallax/api-contract/problems';
import { agentSettings, controlPlaneSettings, SettingsError, withConfigFile } from '@parallax/settings';
import type { Environment } from '@parallax/settings';
import { Command, CommanderError } from 'commander';
import { addAsCodeCommands } from './commands/as-code.ts';
import { addBackupCommands } from './commands/backup.ts';
import { addDatabaseSecretsCommand } from './commands/database-secrets.ts';
import { addImportCommand } from './commands/import.ts';
import { addJoinTokenCommands } from './commands/join-token.ts';
import { addKeysCommands } from './commands/keys.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addOpenapiCommand } from './commands/openapi.ts';
import { addPrepareCommand } from './commands/prepare.ts';
import { addRecomputeCommand } from './commands/recompute.ts';
import { addServeCommand } from './commands/serve.ts';
import { addSettingsCommand } from './commands/settings.ts';
import { addUpCommand } from './commands/up.ts';
import { addUserCommands } from './commands/user.ts';
import { addWorkspaceCommands } from './commands/workspace.ts';
import { ExplainedError } from './platform/explained-error.ts';
import { version } from './version.ts';

/** What is printed without a stack: each of these says what is wrong and what to do. Their modules load next to nothing. */
const explained = [ExplainedError, SettingsError, FolderInUseError, Problem];

/** Runs one command of the control plane; gives the exit code. */
export async function runCli(argv: readonly string[], env: Environment): Promise<number> {
  try {
    const given = withConfigFile(controlPlaneSettings, argv, env, [agentSettings]);
    await createProgram(given.env).parseAsync([...given.argv]);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    const isExplained = explained.some((kind) => error instanceof kind);
    const text =
      error instanceof Error ? (isExplained ? error.message : (error.stack ?? error.message)) : String(error);
    process.stderr.write(`control-plane: ${text}\n`);
    return 1;
  }
}

/** The command line. Each command imports what it runs when it runs, since the whole control plane takes seconds to load. */
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
  addUpCommand(program, env);
  addServeCommand(program, env);
  addPrepareCommand(program, env);
  addDatabaseSecretsCommand(program);
  addMigrateCommand(program, env);
  addOpenapiCommand(program);
  addSettingsCommand(program);
  addAsCodeCommands(program, env);
  addImportCommand(program, env);
  addBackupCommands(program, env);
  addKeysCommands(program, env);
  addRecomputeCommand(program, env);
  addUserCommands(program, env);
  addWorkspaceCommands(program, env);
  addJoinTokenCommands(program, env);
  return program;
}
