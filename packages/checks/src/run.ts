import type { CheckContext, CheckResult, Target } from './check.ts';
import { onEachAddress } from './net/fan-out.ts';
import { failed, probeFault, type Failure } from './net/failure.ts';
import { resolverAt } from './net/own-resolver.ts';
import type { CheckOutcome } from './outcome.ts';
import { type AnyCheckType, checkTypeOf, isProtocol } from './registry.ts';
import { combine } from './run/addresses.ts';
import { cancelDeadline, setDeadline } from './run/deadlines.ts';
import { judgeRun, type Plan, planOf } from './run/plan.ts';
import { guardedTrace, type Trace, traceJudgement, traceVerdict } from './run/trace.ts';
import { follow, type Follower, Stop, type StopSignal, unfollow } from './stop.ts';

/** How long after the deadline a check type may still take to give its verdict; later its own is not waited for. */
const graceMs = 25;

/** What was read from a settings object. Settings are plain data that nobody changes, so the object itself is the key. */
const parsedSettings = new WeakMap<object, ReadSettings>();
type ReadSettings = {
  /** What they were read from. */
  readonly from: unknown;
  readonly type: string;
  readonly settings: Readonly<Record<string, unknown>> | undefined;
  readonly problem: string | undefined;
  /** What the settings that all types share ask for. */
  readonly plan: Plan | undefined;
};
/** What each target was found to fit; settings may be those of many monitors, and a target is of one. */
const validTargets = new WeakMap<Target, ReadSettings>();

/**
 * Runs one check and gives its outcome; never rejects and is done at most 50 ms after `context.timeoutMs`. When it returns, the
 * check holds no socket, timer or process.
 *
 * `settings` are as stored on the monitor and are not to be changed afterwards. What is made of them and of the target is kept with these
 * objects: who checks again and again hands in the same ones. Unreadable settings or targets and defects of the
 * program are `probe_error`; a run that `context.signal` ended is `skipped` with the code `cancelled`.
 */
export function runCheck(
  protocol: string,
  target: Target,
  settings: unknown,
  context: CheckContext,
): Promise<CheckOutcome> {
  const start = context.clock();
  const conclude = (failure: Failure): CheckOutcome => ({
    outcome: failure.outcome,
    total: Math.round((context.clock() - start) * 1000),
    phases: {},
    source: failure.source,
    code: failure.code,
    message: failure.message,
  });
  if (!isProtocol(protocol))
    return Promise.resolve(
      conclude(probeFault('probe_capability', `This probe does not know the protocol "${protocol}".`)),
    );
  const checkType = checkTypeOf(protocol);
  const known = validTargets.get(target);
  const isKnown = known?.from === settings && known?.type === checkType.type;
  const parsed = isKnown ? known : readSettings(checkType, settings);
  if (parsed.problem !== undefined) return Promise.resolve(conclude(probeFault('probe_internal', parsed.problem)));
  if (known !== parsed) {
    const wrong = checkType.validateTarget(target, parsed.settings);
    if (wrong !== undefined) return Promise.resolve(conclude(failed('target_invalid', wrong)));
    validTargets.set(target, parsed);
  }
  if (context.signal.aborted) return Promise.resolve(cancelled(conclude));

  const stop = new Stop();
  const trace = context.trace && guardedTrace(context.trace, parsed.settings ?? {}, checkType.secretFields);
  return new Promise((resolve) => {
    let grace: NodeJS.Timeout | undefined;
    let isTold = false;
    let follower: Follower | undefined;
    const end = () => {
      stop.abort();
      grace ??= setTimeout(() => settle(conclude(stillRunning(protocol))), graceMs);
    };
    const settle = (result: CheckResult) => {
      cancelDeadline(deadline);
      if (grace !== undefined) clearTimeout(grace);
      if (follower !== undefined) unfollow(follower);
      const outcome = context.signal.aborted ? cancelled(conclude) : withoutFacts(result);
      if (trace !== undefined && !isTold) traceVerdict(trace, outcome);
      isTold = true;
      resolve(outcome);
    };
    const deadline = setDeadline(end, context.timeoutMs);
    follower = follow(context.signal, end);
    const fail = (error: unknown) => {
      stop.abort();
      settle(conclude(defect(protocol, error)));
    };
    try {
      runAll(checkType, target, parsed, withSignal(context, stop, parsed.plan, trace)).then(settle, fail);
    } catch (error) {
      fail(error);
    }
  });
}

/** Runs the type once, or once for each address, and judges each run by what the settings ask for beyond the type's own. */
function runAll(
  checkType: AnyCheckType,
  target: Target,
  { settings, plan }: ReadSettings,
  context: CheckContext,
): Promise<CheckResult> {
  if (plan === undefined) return checkType.run(target, settings, context);
  const judged = (each: CheckContext) =>
    checkType.run(target, settings, each).then((result) => {
      const outcome = judgeRun(result, plan);
      if (each.trace !== undefined) traceJudgement(each.trace, plan, result, outcome);
      return outcome;
    });
  const { badAddress } = plan;
  if (badAddress === undefined) return judged(context);
  return onEachAddress(target, context, judged).then((branches) => combine(branches, badAddress));
}

/** Facts are for assertions only and may be large: they go no further. */
function withoutFacts(result: CheckResult): CheckOutcome {
  if (result.facts === undefined) return result;
  const { facts: _facts, ...outcome } = result;
  return outcome;
}

function readSettings(checkType: AnyCheckType, settings: unknown): ReadSettings {
  const key = typeof settings === 'object' && settings !== null ? settings : undefined;
  const known = key && parsedSettings.get(key);
  if (known?.type === checkType.type) return known;
  const result = checkType.settings().safeParse(settings ?? {});
  const first = result.error?.issues[0];
  const problem = first && `The settings cannot be used: ${first.path.join('.')} ${first.message}`.slice(0, 500);
  const plan = result.success ? planOf(result.data, checkType.secretFields) : undefined;
  const read = { from: settings, type: checkType.type, settings: result.data, problem, plan };
  if (key !== undefined) parsedSettings.set(key, read);
  return read;
}

/** Written out, since every check makes one and a spread of an object of unknown shape is slow. */
function withSignal(
  context: CheckContext,
  signal: StopSignal,
  plan: Plan | undefined,
  trace: Trace | undefined,
): CheckContext {
  const { timeoutMs, clock, addresses, sourceAddress, userAgent, browser, browserAccount, dockerSockets } = context;
  const servers = plan?.nameServers;
  const resolver = servers === undefined ? context.resolver : resolverAt(servers, addresses, trace);
  const proxy = plan?.proxy;
  const wallClock = context.wallClock ?? Date.now;
  const wanted = plan?.wanted;
  return {
    signal,
    timeoutMs,
    clock,
    wallClock,
    addresses,
    resolver,
    proxy,
    sourceAddress,
    trace,
    wanted,
    userAgent,
    browser,
    browserAccount,
    dockerSockets,
  };
}

function cancelled(conclude: (failure: Failure) => CheckOutcome): CheckOutcome {
  return { ...conclude(probeFault('cancelled', 'The run was no longer wanted.')), outcome: 'skipped' };
}

function stillRunning(protocol: string): Failure {
  return probeFault('probe_internal', `The check type "${protocol}" did not stop at its deadline.`);
}

/** The name and code of an error only: its message could hold a secret of the monitor. */
function defect(protocol: string, error: unknown): Failure {
  const name = error instanceof Error ? error.name : typeof error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? ` ${error.code}` : '';
  return probeFault('probe_internal', `The check type "${protocol}" failed inside the probe (${name}${code}).`);
}
