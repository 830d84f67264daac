import type { CheckOutcome } from '@parallax/checks';
import type { CentralCheck, CentralRun } from '../../central-checks/index.ts';
import type { ProbeRequest, RunCheckAnswer } from '../../probes/index.ts';

/** Beyond the monitor's own timeout: the probe looks at its uplink before a failure counts, twice 1.3 s at most. */
const judgingMs = 3_000;
/** Beyond that: the way to the probe and back. An answer by hand takes at most these two longer than the monitor's timeout, whatever vanishes. */
const wayMs = 2_000;

/** Checks by hand of the control plane at the same time, in one process: each may last a minute. */
const mostCentralChecks = 50;

/** Asks a probe; replaced in tests. */
export type Ask = (probeId: number, request: ProbeRequest, timeoutMs: number) => Promise<RunCheckAnswer | undefined>;

/** What one of those that were asked has to say. */
export type Reply =
  | {
      readonly probeId: number;
      readonly startedMs: number;
      readonly outcome: CheckOutcome;
      readonly trace: ReadonlyArray<{ readonly atMs: number; readonly step: string; readonly detail: string }>;
    }
  | { readonly probeId: number; readonly missing: string };

/** What a check by hand is asked with. */
export type Question = Pick<ProbeRequest, 'monitor_id' | 'assignment'> & {
  readonly timeoutSeconds: number;
  /** Server time. */
  readonly askedMs: number;
};

/**
 * Asks every probe at once and waits, at most five seconds longer than the monitor's timeout. A probe that is late refuses by itself, so that
 * what is told as missing leaves no result behind.
 */
export async function askProbes(ask: Ask, probeIds: readonly number[], question: Question): Promise<readonly Reply[]> {
  const { timeoutSeconds, askedMs, ...what } = question;
  const deadlineMs = timeoutSeconds * 1_000 + judgingMs;
  const expiresMs = Math.ceil(askedMs) + deadlineMs;
  const request: ProbeRequest = {
    ...what,
    kind: 'manual',
    deadline_ms: deadlineMs,
    expires_at_ms: expiresMs,
    trace: true,
  };
  return Promise.all(
    probeIds.map(async (probeId): Promise<Reply> => {
      const reply = await ask(probeId, request, deadlineMs + wayMs);
      if (reply === undefined) return { probeId, missing: 'the probe did not answer in time or is not connected' };
      if ('refused' in reply) return { probeId, missing: reply.refused };
      const { effective_us: effectiveUs, outcome, trace } = reply.answer;
      const steps = trace.map(({ at_us: atUs, step, detail }) => ({ atMs: atUs / 1_000, step, detail }));
      // 0 while the probe cannot tell the time, as after a start or a standstill.
      const startedMs = effectiveUs === 0 ? askedMs : effectiveUs / 1_000;
      return { probeId, startedMs, outcome, trace: steps };
    }),
  );
}

/** A check by the control plane itself; undefined when so many are under way that there is no place for one more. */
export type BoundedCheck = (...given: Parameters<CentralCheck>) => Promise<CentralRun | undefined>;

/** Who checks by hand: the control plane itself, and probes that are asked. */
export type ByHand = { readonly central: BoundedCheck; readonly ask: Ask };

/** Bounds the checks by hand of this process. */
export function bounded(check: CentralCheck): BoundedCheck {
  let underWay = 0;
  return async (...given) => {
    if (underWay >= mostCentralChecks) return undefined;
    underWay += 1;
    try {
      return await check(...given);
    } finally {
      underWay -= 1;
    }
  };
}

/** What the control plane has to say, which has no identifier but 0. */
export function centralReply(run: CentralRun | undefined): Reply {
  if (run !== undefined) return { probeId: 0, ...run };
  return { probeId: 0, missing: 'the control plane is at its limit of checks at the same time; try again in a minute' };
}
