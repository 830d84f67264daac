import { Problem } from '@parallax/api-contract';
import type { MonitorTest } from '@parallax/api-contract';
import type { Policy } from '../../consensus/index.ts';
import { outcomeFields } from '../history/raw-status.ts';
import type { Reply } from './replies.ts';
import { medianMs, verdictOf } from './verdict.ts';
import type { Seat } from './verdict.ts';

/** What was checked by hand: by whom, when, and under which policy. */
export type Asked = {
  /** Such as `monitor 5`, for a sentence. */
  readonly what: string;
  readonly seats: readonly Seat[];
  readonly policy: Policy;
  readonly askedMs: number;
};

/**
 * The answer to a check by hand.
 * @throws Problem `probe_unreachable` with all reasons when nobody checked
 */
export function answerOf(asked: Asked, replies: readonly Reply[]): MonitorTest {
  const missing = replies.flatMap((reply) =>
    'missing' in reply ? [{ probe_id: reply.probeId, reason: reply.missing }] : [],
  );
  const given = replies.flatMap((reply) => ('missing' in reply ? [] : [reply]));
  if (given.length === 0) {
    const reasons = missing.map((each) => `probe ${each.probe_id}: ${each.reason}`).join('; ');
    throw new Problem('probe_unreachable', `no probe could check ${asked.what} (${reasons.slice(0, 1_000)})`);
  }
  const answers = given.map(({ probeId, outcome }) => ({ probeId, outcome: outcome.outcome, totalUs: outcome.total }));
  return {
    created_at: new Date(asked.askedMs).toISOString(),
    status: verdictOf(asked.seats, answers, asked.policy),
    response_time_ms: medianMs(answers),
    results: given.map(({ probeId, startedMs, outcome }) => ({
      created_at: new Date(startedMs).toISOString(),
      probe_id: orNull(probeId),
      ...outcomeFields('manual', outcome),
    })),
    missing,
    trace: given.flatMap(({ probeId, trace }) =>
      trace.map(({ atMs, step, detail }) => ({ probe_id: orNull(probeId), at_ms: atMs, step, detail })),
    ),
  };
}

/** The control plane itself has no identifier on the wire. */
function orNull(probeId: number): number | null {
  return probeId === 0 ? null : probeId;
}
