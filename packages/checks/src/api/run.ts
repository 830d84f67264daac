import type { CheckContext, CheckResult } from '../check.ts';
import { addPhase, outcomeOf, type Progress } from '../http/outcome.ts';
import { createRedactor } from '../http/secrets.ts';
import type { Failure } from '../net/failure.ts';
import type { Phases } from '../outcome.ts';
import { Stop } from '../stop.ts';
import { CookieJar } from './cookies.ts';
import { extract } from './extract.ts';
import { failedStep, lineName, type StepLine, writeLine } from './lines.ts';
import { writeStep } from './request.ts';
import type { ApiSettings, Step } from './settings.ts';
import { answerOf, askStep, judgeStep, type Verdict } from './step.ts';
import { asUrlComponent, TemplateError, type Value } from './templates.ts';
import { extractedTrace, stepTrace } from './told.ts';

/** Of the verdicts, the gravest; the first of those that are as grave. */
const gravity = { warn: 1, slow: 2, fail: 3, timeout: 3, probe_error: 4 } as const;
/** A sentence goes into the line of a step and into the outcome. */
const longestMessage = 300;
const resultOf = { warn: 'warn', slow: 'slow', fail: 'failed', timeout: 'failed', probe_error: 'failed' } as const;

type Run = {
  readonly settings: ApiSettings;
  readonly base: URL;
  readonly context: CheckContext;
  readonly values: Map<string, Value>;
  readonly jar: CookieJar;
  /** Secrets, and what came up on the way that may be one. */
  readonly hidden: string[];
};

type Gravest = { readonly verdict: Verdict; readonly number: number; readonly label: string };

/** Makes the steps one after the other and gives the outcome of them all. */
export async function runSteps(base: URL, settings: ApiSettings, context: CheckContext): Promise<CheckResult> {
  const given = Object.values(settings.secrets);
  const run: Run = {
    settings,
    base,
    context,
    values: new Map(Object.entries({ ...settings.variables, ...settings.secrets })),
    jar: new CookieJar(),
    hidden: [...given, ...given.map(asUrlComponent)],
  };
  const whole = { startedAt: context.clock(), phases: {} as Progress['phases'] };
  const lines: StepLine[] = [];
  let shown: Progress | undefined;
  let gravest: Gravest | undefined;
  let failures = 0;
  let isOver = false;
  for (const [index, step] of settings.steps.entries()) {
    const number = index + 1;
    const name = step.name === '' ? `step ${number}` : step.name;
    if (isOver || context.signal.aborted) {
      lines.push({ number, name, result: 'skipped' });
      continue;
    }
    const { progress, verdict, ms } = await makeStep(run, step);
    for (const phase of Object.keys(progress.phases) as (keyof Phases)[])
      addPhase(whole, phase, progress.phases[phase]);
    lines.push(lineOf(run, { number, name, ms, progress, verdict }));
    context.trace?.(stepTrace, writeLine(lines.at(-1) ?? { number, name, result: 'ok' }));
    if (
      verdict !== undefined &&
      (gravest === undefined || gravity[verdict.outcome] > gravity[gravest.verdict.outcome])
    ) {
      gravest = { verdict, number, label: `Step ${number} "${name}"` };
      shown = progress;
    } else if (gravest === undefined) shown = progress;
    if (verdict === undefined || gravity[verdict.outcome] < gravity.fail) continue;
    failures += 1;
    isOver = !step.continue_on_failure;
  }
  return conclude(run, { ...(shown ?? newProgress(run)), ...whole, obtained: run.hidden }, lines, gravest, failures);
}

function lineOf(
  run: Run,
  done: {
    readonly number: number;
    readonly name: string;
    readonly ms: number;
    readonly progress: Progress;
    readonly verdict: Verdict | undefined;
  },
): StepLine {
  const { number, name, ms, progress, verdict } = done;
  const status = progress.head?.status;
  if (verdict === undefined) return { number, name, result: 'ok', status, ms };
  const { code } = verdict;
  const message = redactor(run)(verdict.message).slice(0, longestMessage);
  return { number, name, result: resultOf[verdict.outcome], status, ms, code, message };
}

function conclude(
  run: Run,
  progress: Progress,
  lines: readonly StepLine[],
  gravest: Gravest | undefined,
  failures: number,
): CheckResult {
  const texts = Object.fromEntries(lines.map((line) => [lineName(line.number), redactor(run)(writeLine(line))]));
  const details = failures > 0 && gravest !== undefined ? { ...texts, [failedStep]: gravest.number } : texts;
  const more = { evidence: { details }, facts: { details } };
  const settings = { secret_headers: {}, verify_tls: false, warn_days_before_expiry: 0 };
  if (gravest === undefined) return outcomeOf(progress, undefined, settings, run.context, more);
  const { verdict, label } = gravest;
  const others = failures > 1 ? ` ${failures - 1} more failed.` : '';
  const said = redactor(run)(`${label}: ${verdict.message}`)
    .replace(/\.$/, '')
    .slice(0, longestMessage + 130);
  const failure: Failure = {
    ...verdict,
    outcome: verdict.outcome === 'slow' ? 'fail' : verdict.outcome,
    code: failures > 1 && verdict.outcome === 'fail' ? 'step_failed' : verdict.code,
    message: `${said}.${others}`,
  };
  const result = outcomeOf(progress, failure, settings, run.context, more);
  if (verdict.outcome !== 'slow') return result;
  const { source: _source, ...rest } = result;
  return { ...rest, outcome: 'slow' };
}

type Made = { readonly progress: Progress; readonly verdict: Verdict | undefined; readonly ms: number };

async function makeStep(run: Run, step: Step): Promise<Made> {
  const { context } = run;
  const progress = newProgress(run);
  const verdict = await verdictOf(run, step, progress);
  return { progress, verdict, ms: context.clock() - progress.startedAt };
}

async function verdictOf(run: Run, step: Step, progress: Progress): Promise<Verdict | undefined> {
  const { settings, base, values, jar, hidden, context } = run;
  let written: ReturnType<typeof writeStep>;
  try {
    written = writeStep(step, base, settings.variables, values);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { outcome: 'fail', source: 'target', code: error.code, message: error.message };
  }
  hidden.push(...written.made);
  const failure = await inTime(step, context, (own) =>
    askStep(written, step, settings.ca_certificates, jar, { ...own, trace: redactedTrace(run) }, progress),
  );
  hidden.push(...jar.values());
  if (failure !== undefined) return failure;
  const answer = answerOf(progress);
  if ('code' in answer) return answer;
  const total = Math.round((context.clock() - progress.startedAt) * 1000);
  const judged = judgeStep(step, answer, progress, { total, phases: progress.phases }, context, redactor(run));
  if (judged !== undefined && gravity[judged.outcome] >= gravity.fail) return judged;
  for (const wanted of step.extract) {
    const got = extract(wanted, answer, jar);
    if ('problem' in got) return { outcome: 'fail', source: 'target', code: 'extract_failed', message: got.problem };
    values.set(wanted.name, got.value);
    context.trace?.(extractedTrace, wanted.name);
    // A status, a number or a yes or no is no token; anything else may be.
    if (typeof got.value === 'string' && got.value.length >= 8) hidden.push(got.value, asUrlComponent(got.value));
  }
  return judged;
}

/** Gives a step its own time within that of the check: its signal ends with the check's, or earlier. */
async function inTime(
  step: Step,
  context: CheckContext,
  run: (context: CheckContext) => Promise<Failure | undefined>,
): Promise<Failure | undefined> {
  if (step.timeout_seconds === undefined) return run(context);
  const timeoutMs = Math.min(step.timeout_seconds * 1000, context.timeoutMs);
  const stop = new Stop();
  const end = (): void => stop.abort();
  context.signal.addEventListener('abort', end);
  const timer = setTimeout(end, timeoutMs);
  try {
    return await run({ ...context, signal: stop, timeoutMs });
  } finally {
    clearTimeout(timer);
    context.signal.removeEventListener('abort', end);
  }
}

function newProgress({ base, context, hidden }: Run): Progress {
  return { startedAt: context.clock(), phases: {}, redirects: 0, url: base, obtained: hidden };
}

function redactor({ hidden }: Run): (text: string) => string {
  return createRedactor({ secret_headers: {} }, hidden).text;
}

function redactedTrace(run: Run): CheckContext['trace'] {
  const { trace } = run.context;
  return trace && ((name, detail) => trace(name, redactor(run)(detail)));
}
