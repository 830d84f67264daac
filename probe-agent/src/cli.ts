import { agentSettings, SettingsError, withConfigFile } from '@parallax/settings';
import { Command } from 'commander';
import type { Output } from './commands.ts';
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

/** Printed after the help of a command. */
const examples = {
  register:
    'probe-agent register --control-plane control.example.org:9444 --join-token ID.SECRET.FINGERPRINT --state-dir /var/lib/parallax-probe',
  run: 'probe-agent run --state-dir /var/lib/parallax-probe',
  status: 'probe-agent status --state-dir /var/lib/parallax-probe --json',
  doctor: 'probe-agent doctor --state-dir /var/lib/parallax-probe',
  check: 'probe-agent check https://example.org --timeout 5',
} as const;

const placeholders: Readonly<Record<string, string>> = {
  CONTROL_PLANE: 'host:port',
  JOIN_TOKEN: 'token',
  NAME: 'name',
  REGION: 'region',
  STATE_DIR: 'folder',
  SOURCE_ADDRESS: 'address',
  PUBLIC_ADDRESS: 'address',
  MAX_IN_FLIGHT: 'number',
  ALLOWED_PRIVATE_TARGETS: 'cidrs',
  CANARIES: 'host:port,…',
  LOG_LEVEL: 'level',
  METRICS_PORT: 'port',
};

/** The command line of the agent. Every flag is also an environment variable `PARALLAX_PROBE_…`, and `…_FILE` for its content in a file. */
export function createProgram(context: CliContext): Command {
  const program = new Command('probe-agent')
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

  const enrolmentKeys = ['CONTROL_PLANE', 'JOIN_TOKEN', 'NAME', 'REGION', 'PUBLIC_ADDRESS'] as const;
  withFlags(program.command('register').description('register this machine as a probe, with a join token'), [
    ...enrolmentKeys,
    'STATE_DIR',
  ])
    .option('--json', 'print one JSON object')
    .action(async (flags: Flags) => {
      const { runRegister } = await commands();
      await runRegister(agentConfiguration(context.env, flags), context.output, flags['json'] === true);
    });
  withFlags(
    program
      .command('run')
      .description('run the agent; registers first when a join token is given and nothing is registered'),
    [
      ...enrolmentKeys,
      'STATE_DIR',
      'SOURCE_ADDRESS',
      'MAX_IN_FLIGHT',
      'ALLOWED_PRIVATE_TARGETS',
      'CANARIES',
      'LOG_LEVEL',
      'METRICS_PORT',
    ],
  ).action(async (flags: Flags) => {
    const { runAgent } = await commands();
    const { settings, readJoinToken } = configurationWithLateToken(context.env, flags);
    await runAgent(settings, readJoinToken);
  });
  withFlags(
    program
      .command('status')
      .description('say how the agent of a state folder is; exit code 1 when it is not connected'),
    ['STATE_DIR'],
  )
    .option('--json', 'print one JSON object')
    .action(async (flags: Flags) => {
      const { runStatus } = await commands();
      const { settings } = configurationWithLateToken(context.env, flags);
      if (!(await runStatus(settings, context.output, flags['json'] === true))) context.setExitCode(1);
    });
  withFlags(program.command('doctor').description('say what this machine lacks for some checks, and how to mend it'), [
    'STATE_DIR',
  ])
    .option('--json', 'print one JSON object')
    .action(async (flags: Flags) => {
      const { runDoctor } = await commands();
      const { settings } = configurationWithLateToken(context.env, flags);
      if (!(await runDoctor(settings, context.output, flags['json'] === true))) context.setExitCode(1);
    });
  withFlags(
    program
      .command('check')
      .description('run one check from here and show its steps; exit code 1 when it fails')
      .argument('<url>', 'what to check'),
    ['SOURCE_ADDRESS', 'ALLOWED_PRIVATE_TARGETS'],
  )
    .option('--protocol <name>', 'how to check it; otherwise the scheme of the URL says')
    .option('--timeout <seconds>', 'give up after so many seconds', '10')
    .option('--json', 'print one JSON object')
    .action(async (url: string, flags: Flags) => {
      const timeoutSeconds = Number(flags['timeout']);
      if (!(timeoutSeconds >= 1 && timeoutSeconds <= 60))
        throw new EnrolmentError('--timeout: a number of seconds from 1 to 60 is expected');
      const protocol = typeof flags['protocol'] === 'string' ? flags['protocol'] : undefined;
      const { runOneCheck } = await commands();
      const outcome = await runOneCheck(
        configurationWithLateToken(context.env, flags).settings,
        url,
        { protocol, timeoutSeconds },
        context.output,
        flags['json'] === true,
      );
      if (!['ok', 'slow', 'warn'].includes(outcome.outcome)) context.setExitCode(1);
    });
  for (const command of program.commands) {
    const example = Object.entries(examples).find(([name]) => name === command.name())?.[1];
    if (example !== undefined) command.addHelpText('after', `\nExample:\n  ${example}`);
  }
  return program;
}

/** Runs the command line; gives the exit code. Errors that a person can mend are printed without a stack. */
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
