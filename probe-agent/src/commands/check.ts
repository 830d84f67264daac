import { readFileSync } from 'node:fs';
import {
  checkTypeOf,
  createAddressPolicy,
  createResolver,
  protocols,
  runCheck,
  secretFieldsOf,
  settingsSchema,
} from '@parallax/checks';
import type { CheckOutcome, ErrorCode } from '@parallax/checks';
import type { AgentSettings } from '@parallax/settings';
import { machineOptions } from '../machine/options.ts';
import { messageOf } from '../ports.ts';
import { userAgent } from '../runner/checker.ts';
import { reportLines } from './check-report.ts';
import type { Step } from './check-report.ts';
import { assignedFrom, settingsFrom, typeFor } from './check-request.ts';
import { UsageError } from './output.ts';
import type { Output } from './output.ts';

/** What `check` was asked for, as it was written. */
export type CheckArguments = {
  readonly target: string;
  readonly type?: string | undefined;
  /** `name=value` and `name:=json`. */
  readonly set?: readonly string[];
  /** `name=path`; `-` is the standard input. For secrets, which do not belong on a command line that others can see. */
  readonly setFile?: readonly string[];
  /** A file with settings as JSON, or `-`. */
  readonly settings?: string | undefined;
  readonly timeout: string;
  readonly json: boolean;
};

const clock = (): number => performance.now();

/** Runs one check from this machine, step by step and without any control plane, prints it, and gives the outcome. Throws a UsageError. */
export async function runOneCheck(agent: AgentSettings, given: CheckArguments, output: Output): Promise<CheckOutcome> {
  const timeoutSeconds = Number(given.timeout);
  if (!(timeoutSeconds >= 1 && timeoutSeconds <= 60))
    throw new UsageError('--timeout: a number of seconds from 1 to 60 is expected');
  const type = typeFor(given.target, given.type);
  const assigned = [
    ...(given.set ?? []).map((argument) => assignedFrom(argument, '--set')),
    ...(given.setFile ?? []).map((argument) => {
      const { name, text, isJson } = assignedFrom(argument, '--set-file');
      return { name, text: contentOf(text, `--set-file ${name}`).replace(/\r?\n$/, ''), isJson };
    }),
  ];
  const settings = settingsFrom(type, given.settings === undefined ? {} : settingsIn(given.settings), assigned);
  const read = settingsSchema(type).parse(settings);
  const wrong = checkTypeOf(type).validateTarget({ url: given.target }, read);
  if (wrong !== undefined) throw new UsageError(`the target does not fit "${type}": ${wrong}`);

  const trace: Step[] = [];
  const start = clock();
  const outcome = await runCheck(type, { url: given.target }, settings, {
    signal: new AbortController().signal,
    timeoutMs: timeoutSeconds * 1000,
    clock,
    addresses: createAddressPolicy({ allowedPrivate: agent.allowedPrivateTargets ?? [] }),
    resolver: createResolver({ clock }),
    userAgent,
    sourceAddress: agent.sourceAddress,
    ...machineOptions(agent),
    trace: (step, detail) => trace.push({ atMs: Math.round((clock() - start) * 1000) / 1000, step, detail }),
  });
  const report = { type, target: given.target, outcome, trace };
  if (given.json) output.line(JSON.stringify({ type, target: given.target, ...outcome, trace }));
  else for (const line of reportLines(report, output.terminal)) output.line(line);
  return outcome;
}

/** Not the target's fault, nor a good answer: the check could not be run as it was asked for. */
const notRun: ReadonlySet<ErrorCode | undefined> = new Set(['target_invalid']);

/** 0: it answers (perhaps slowly, or with a warning); 1: it fails, or this machine cannot tell; 2: it cannot be asked like this. */
export function exitCodeOf(outcome: CheckOutcome): 0 | 1 | 2 {
  if (['ok', 'slow', 'warn'].includes(outcome.outcome)) return 0;
  return notRun.has(outcome.code) ? 2 : 1;
}

/** Lists the types with an example of a target each. */
export function listTypes(output: Output, json: boolean): void {
  const types = protocols.map((type) => {
    const { summary, requires, reference } = checkTypeOf(type);
    return { type, summary, targets: reference.targets, requires, secret_settings: secretFieldsOf(type) };
  });
  if (json) output.line(JSON.stringify({ types }));
  else
    for (const { type, summary, targets, requires } of types) {
      output.line(`${type.padEnd(12)}${summary}${requires.length > 0 ? ` (needs ${requires.join(', ')})` : ''}`);
      output.line(`${' '.repeat(12)}${targets.join('  ')}`);
    }
}

function settingsIn(file: string): unknown {
  try {
    return JSON.parse(contentOf(file, '--settings')) as unknown;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError('--settings: a JSON object with the settings of the check is expected');
  }
}

const maxFileBytes = 1024 * 1024;

function contentOf(file: string, flag: string): string {
  let content: Buffer;
  try {
    content = readFileSync(file === '-' ? 0 : file);
  } catch (error) {
    throw new UsageError(`${flag}: ${file === '-' ? 'the standard input' : file} cannot be read (${messageOf(error)})`);
  }
  if (content.length > maxFileBytes) throw new UsageError(`${flag}: ${file} is larger than 1 MiB`);
  return content.toString('utf8');
}
