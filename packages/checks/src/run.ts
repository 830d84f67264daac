import type { CheckContext, Target } from './check.ts';
import { failed, probeFault, type Failure } from './net/failure.ts';
import type { CheckOutcome } from './outcome.ts';
import { type AnyCheckType, checkTypeOf, isProtocol } from './registry.ts';
import { follow, Stop, type StopSignal, unfollow } from './stop.ts';

/** How long after the deadline a check type may still take to give its verdict; later its own is not waited for. */
const graceMs = 25;

/** What was read from a settings object. Settings are plain data that nobody changes, so the object itself is the key. */
const parsedSettings = new WeakMap<object, ReadSettings>();
type ReadSettings = {
  readonly type: string;
  readonly settings: unknown;
  readonly problem: string | undefined;
  /** The last target that these settings were found to fit. */
  validTarget: string | undefined;
};

/**
 * Runs one check and gives its outcome; never rejects and is done at most 50 ms after `context.timeoutMs`. When it returns, the
 * check holds no socket, timer or process.
 *
 * `settings` are as stored on the monitor and are not to be changed afterwards. Unreadable settings or targets and defects of the
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
  const parsed = readSettings(checkType, settings);
  if (parsed.problem !== undefined) return Promise.resolve(conclude(probeFault('probe_internal', parsed.problem)));
  const wrong = parsed.validTarget === target.url ? undefined : checkType.validateTarget(target, parsed.settings);
  if (wrong !== undefined) return Promise.resolve(conclude(failed('target_invalid', wrong)));
  parsed.validTarget = target.url;
  if (context.signal.aborted) return Promise.resolve(cancelled(conclude));

  const stop = new Stop();
  return new Promise((resolve) => {
    let grace: NodeJS.Timeout | undefined;
    const end = () => {
      stop.abort();
      grace ??= setTimeout(() => settle(conclude(stillRunning(protocol))), graceMs);
    };
    const settle = (outcome: CheckOutcome) => {
      clearTimeout(timer);
      clearTimeout(grace);
      unfollow(context.signal, end);
      resolve(context.signal.aborted ? cancelled(conclude) : outcome);
    };
    const timer = setTimeout(end, context.timeoutMs);
    follow(context.signal, end);
    const fail = (error: unknown) => {
      stop.abort();
      settle(conclude(defect(protocol, error)));
    };
    try {
      checkType.run(target, parsed.settings, withSignal(context, stop)).then(settle, fail);
    } catch (error) {
      fail(error);
    }
  });
}

function readSettings(checkType: AnyCheckType, settings: unknown): ReadSettings {
  const key = typeof settings === 'object' && settings !== null ? settings : undefined;
  const known = key && parsedSettings.get(key);
  if (known?.type === checkType.type) return known;
  const result = checkType.settings.safeParse(settings ?? {});
  const first = result.error?.issues[0];
  const problem = first && `The settings cannot be used: ${first.path.join('.')} ${first.message}`.slice(0, 500);
  const read = { type: checkType.type, settings: result.data, problem, validTarget: undefined };
  if (key !== undefined) parsedSettings.set(key, read);
  return read;
}

/** Written out, since every check makes one and a spread of an object of unknown shape is slow. */
function withSignal(context: CheckContext, signal: StopSignal): CheckContext {
  const { timeoutMs, clock, addresses, resolver, sourceAddress, userAgent, trace } = context;
  const wallClock = context.wallClock ?? Date.now;
  return { signal, timeoutMs, clock, wallClock, addresses, resolver, sourceAddress, trace, userAgent };
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
