import { agentSettings, SettingsError, withConfigFile } from '@parallax/settings';
import { Command, CommanderError } from 'commander';
import { UsageError } from './commands/output.ts';
import type { Output } from './commands/output.ts';
import { EnrolmentError } from './enrolment/enrolment-error.ts';
import { messageOf } from './ports.ts';
import { agentConfiguration, configurationWithLateToken } from './settings.ts';
import type { Flags } from './settings.ts';
import { StateFolderInUse } from './state/lock.ts';
import { agentVersion } from './version.ts';

/** What the command line works with; a test gives its own. */
export type CliContext = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly output: Output;
  readonly setExitCode: (code: number) => void;
};

/** Loaded when a command runs: what checks, speaks and signs is most of the program, and neither --version nor --help need any of it. */
const commands = () => import('./commands.ts');
const checkCommand = () => import('./commands/check.ts');

/** Printed after the help of a command. */
const examples = {
  register:
    'probe-agent register --control-plane control.example.org:9444 --join-token ID.SECRET.FINGERPRINT --state-dir /var/lib/parallax-probe',
  run: 'probe-agent run --state-dir /var/lib/parallax-probe',
  status: 'probe-agent status --state-dir /var/lib/parallax-probe --json',
  doctor: 'probe-agent doctor --state-dir /var/lib/parallax-probe',
  check: 'probe-agent check https://example.org --timeout 5',
} as const;

const moreOfCheck = `
  probe-agent check db.example.org:5432 --set username=probe --set-file password=/run/secrets/db
  probe-agent check mqtts://broker.example.org --set topic=health --json
  probe-agent check example.org --type dns --set record_type=MX --set expected_values="10 mail.example.org"`;

/** Options of `check` that are no settings of the agent. */
type CheckFlags = {
  readonly type?: string;
  readonly set?: readonly string[];
  readonly setFile?: readonly string[];
  readonly settings?: string;
  readonly timeout: string;
  readonly types?: boolean;
  readonly json?: boolean;
};

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Those flags that settings of the agent can be among. */
function textFlags(flags: object): Flags {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => typeof value === 'string'));
}

const placeholders: Readonly<Record<string, string>> = {
  CONTROL_PLANE: 'host:port',
  JOIN_TOKEN: 'token',
  NAME: 'name',
  REGION: 'region',
  STATE_DIR: 'folder',
  SOURCE_ADDRESS: 'address',
  PUBLIC_ADDRESS: 'address,…',
  MAX_IN_FLIGHT: 'number',
  WORKERS: 'number|auto',
  ALLOWED_PRIVATE_TARGETS: 'cidrs',
  CANARIES: 'host:port,…',
  BROWSER: 'path',
  BROWSER_USER: 'user:group',
  LOG_LEVEL: 'level',
  METRICS_PORT: 'port',
};

/** The command line of the agent. Every flag is also an environment variable `PARALLAX_PROBE_…`, and `…_FILE` for its content in a file. */
export function createProgram(context: CliContext): Command {
  const program = new Command('probe-agent')
    .exitOverride()
    .configureOutput({ writeOut: (text) => context.output.line(text.replace(/\n$/, '')) })
    .description('Runs availability checks from this place for a Parallax control plane.')
    .version(agentVersion)
    .option('--config <file>', 'settings as lines NAME=value, beside those of the environment')
    .addHelpText(
      'after',
      `
Examples:
${Object.values(examples)
  .map((example) => `  ${example}`)
  .join('\n')}

Every flag is also an environment variable PARALLAX_PROBE_…, and …_FILE names a file with its value.`,
    );
  addRegisterCommand(program, context);
  addRunCommand(program, context);
  addStatusCommand(program, context);
  addDoctorCommand(program, context);
  addCheckCommand(program, context);
  for (const command of program.commands) {
    const example = Object.entries(examples).find(([name]) => name === command.name())?.[1];
    if (example === undefined) continue;
    command.addHelpText('after', `\nExample:\n  ${example}${command.name() === 'check' ? moreOfCheck : ''}`);
  }
  return program;
}

const enrolmentKeys = ['CONTROL_PLANE', 'JOIN_TOKEN', 'NAME', 'REGION', 'PUBLIC_ADDRESS'] as const;

function addRegisterCommand(program: Command, context: CliContext): void {
  withFlags(program.command('register').description('register this machine as a probe, with a join token'), [
    ...enrolmentKeys,
    'STATE_DIR',
  ])
    .option('--json', 'print one JSON object')
    .action(async (flags: Flags) => {
      const { runRegister } = await commands();
      await runRegister(agentConfiguration(context.env, flags), context.output, flags['json'] === true);
    });
}

function addRunCommand(program: Command, context: CliContext): void {
  withFlags(
    program
      .command('run')
      .description('run the agent; registers first when a join token is given and nothing is registered'),
    [
      ...enrolmentKeys,
      'STATE_DIR',
      'SOURCE_ADDRESS',
      'MAX_IN_FLIGHT',
      'WORKERS',
      'ALLOWED_PRIVATE_TARGETS',
      'CANARIES',
      'BROWSER',
      'BROWSER_USER',
      'LOG_LEVEL',
      'METRICS_PORT',
    ],
  ).action(async (flags: Flags) => {
    const { runAgent } = await commands();
    const { settings, readJoinToken } = configurationWithLateToken(context.env, flags);
    await runAgent(settings, readJoinToken);
  });
}

function addStatusCommand(program: Command, context: CliContext): void {
  withFlags(
    program
      .command('status')
      .description('say how the agent of a state folder is; exit code 1 when it is not connected'),
    ['STATE_DIR'],
  )
    .option('--json', 'print one JSON object')
    .action(async (flags: Flags) => {
      const { runStatus } = await import('./commands/status.ts');
      const { settings } = configurationWithLateToken(context.env, flags);
      if (!(await runStatus(settings, context.output, flags['json'] === true))) context.setExitCode(1);
    });
}

function addDoctorCommand(program: Command, context: CliContext): void {
  withFlags(
    program
      .command('doctor')
      .description('say what this machine lacks, and how to mend it; exit code 1 when something fails'),
    ['STATE_DIR', 'MAX_IN_FLIGHT', 'BROWSER', 'BROWSER_USER'],
  )
    .option('--json', 'print one JSON object')
    .action(async (flags: Flags) => {
      const { runDoctor } = await import('./commands/doctor.ts');
      const { settings } = configurationWithLateToken(context.env, flags);
      if (!(await runDoctor(settings, context.output, flags['json'] === true))) context.setExitCode(1);
    });
}

function addCheckCommand(program: Command, context: CliContext): void {
  withFlags(
    program
      .command('check')
      .description(
        'run one check from here and show its steps; exit code 0 when it answers, 1 when it fails, 2 when it cannot be asked like this',
      )
      .argument('[target]', 'what to check: a URL, a host, or host:port'),
    ['SOURCE_ADDRESS', 'ALLOWED_PRIVATE_TARGETS', 'BROWSER', 'BROWSER_USER'],
  )
    .option('--type <name>', 'the check type; otherwise the scheme or the port of the target says')
    .option('--set <name=value>', 'a setting of the type, again for each; name:=value takes JSON', collect)
    .option('--set-file <name=path>', 'a setting from a file, or from the standard input (-): for secrets', collect)
    .option('--settings <path>', 'settings as a JSON object from a file, or from the standard input (-)')
    .option('--timeout <seconds>', 'give up after so many seconds, 1 to 60', '10')
    .option('--types', 'list the check types')
    .option('--json', 'print one JSON object')
    .action(async (target: string | undefined, flags: CheckFlags) => {
      const { exitCodeOf, listTypes, runOneCheck } = await checkCommand();
      const json = flags.json === true;
      if (flags.types === true) {
        listTypes(context.output, json);
        return;
      }
      if (target === undefined)
        throw new UsageError('what is to be checked? Give a target such as https://example.org, or --types');
      const { settings } = configurationWithLateToken(context.env, textFlags(flags));
      context.setExitCode(exitCodeOf(await runOneCheck(settings, { ...flags, target, json }, context.output)));
    });
}

/**
 * Runs the command line; gives the exit code: 0, 1 when something failed, 2 when a command was asked for in a way that it does not know.
 * Errors that a person can mend are printed without a stack.
 */
export async function runCli(
  argv: readonly string[],
  context: Omit<CliContext, 'setExitCode'>,
  printError: (text: string) => void,
): Promise<number> {
  let exitCode = 0;
  const setExitCode = (code: number) => {
    exitCode = code;
  };
  try {
    const given = withConfigFile(agentSettings, argv, context.env);
    await createProgram({ ...context, env: given.env, setExitCode }).parseAsync([...given.argv]);
  } catch (error) {
    // It has printed what is wrong, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof UsageError) {
      printError(`probe-agent: ${error.message}`);
      return 2;
    }
    const isExplained =
      error instanceof EnrolmentError || error instanceof SettingsError || error instanceof StateFolderInUse;
    printError(
      `probe-agent: ${isExplained || !(error instanceof Error) ? messageOf(error) : (error.stack ?? error.message)}`,
    );
    exitCode = 1;
  }
  return exitCode;
}

function withFlags(command: Command, keys: readonly (keyof typeof agentSettings.settings)[]): Command {
  for (const key of keys) {
    const flag = key.toLowerCase().replaceAll('_', '-');
    command.option(`--${flag} <${placeholders[key] ?? 'value'}>`, agentSettings.settings[key].meaning);
  }
  return command;
}
