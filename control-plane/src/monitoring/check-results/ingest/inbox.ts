import { maxBatchResults } from '@parallax/wire';
import { admit } from './admit.ts';
import type { Admitted, Knowledge } from './admit.ts';
import type { Fetched } from './fetch.ts';
import type { Judged } from './round.ts';

/** A message with its first judgement. */
export type Waiting = { readonly message: Fetched; readonly admitted: Admitted; readonly receivedUs: number };

/** Messages in the order of their arrival, judged as they come and gathered for a round. */
export type Inbox = {
  readonly add: (message: Fetched) => void;
  /** Judges some of what has come, at most a round's rows. True when more is left. */
  readonly judge: (knowledge: Knowledge) => boolean;
  readonly isDue: (nowMs: number) => boolean;
  /** Monotonic time at which what waits makes a round; infinity when nothing waits. */
  readonly dueMs: () => number;
  readonly take: () => Waiting[];
  /** Messages taken in all. */
  readonly takenCount: () => number;
  readonly lastReceivedUs: () => number;
};

/** Judging takes 1 to 2 µs a result and some 60 µs for a signature: what runs beside it is not to wait for more. */
const judgedAtOnce = { messages: 8, rows: 1_000 };

export function createInbox(options: {
  readonly shard: number;
  readonly rows: number;
  readonly lingerMs: number;
  readonly nowUs: () => number;
}): Inbox {
  let queue: Fetched[] = [];
  let next = 0;
  let waiting: Waiting[] = [];
  let rows = 0;
  let sinceMs = 0;
  let isUrgent = false;
  let taken = 0;
  let lastReceivedUs = 0;

  function judgeOne(message: Fetched, knowledge: Knowledge): void {
    // Apart by more than a batch has results: effective times that are cut to the receipt stay different.
    lastReceivedUs = Math.max(options.nowUs(), lastReceivedUs + maxBatchResults + 1);
    const admitted = admit(message, { shard: options.shard, knowledge, receivedUs: lastReceivedUs, isFresh: false });
    if (waiting.length === 0) sinceMs = performance.now();
    waiting.push({ message, admitted, receivedUs: lastReceivedUs });
    if (admitted.type !== 'results') return;
    rows += admitted.rows.length;
    // A first failure carries its evidence: it does not wait for company.
    if (admitted.rows.some((row) => row?.evidence !== undefined)) isUrgent = true;
  }

  return {
    add: (message) => {
      queue.push(message);
    },
    judge: (knowledge) => {
      const until = Math.min(queue.length, next + judgedAtOnce.messages);
      const mostRows = Math.min(options.rows, rows + judgedAtOnce.rows);
      while (next < until && rows < mostRows) {
        const message = queue[next];
        next += 1;
        if (message !== undefined) judgeOne(message, knowledge);
      }
      if (next < queue.length) return true;
      queue = [];
      next = 0;
      return false;
    },
    isDue: (nowMs) => rows >= options.rows || isUrgent || (waiting.length > 0 && nowMs - sinceMs >= options.lingerMs),
    dueMs: () => (waiting.length === 0 ? Number.POSITIVE_INFINITY : sinceMs + options.lingerMs),
    take: () => {
      const batch = waiting;
      waiting = [];
      rows = 0;
      isUrgent = false;
      taken += batch.length;
      return batch;
    },
    takenCount: () => taken,
    lastReceivedUs: () => lastReceivedUs,
  };
}

/**
 * The final judgement of a round. What was unknown is asked for first, once: `learn` brings the probes, and the monitors that are named,
 * up to date in the knowledge. What is unknown even then is refused.
 */
export async function judgeAgain(
  batch: readonly Waiting[],
  options: {
    readonly shard: number;
    readonly knowledge: Knowledge;
    readonly learn: (monitorIds: readonly number[]) => Promise<void>;
  },
): Promise<Judged[]> {
  const { shard, knowledge } = options;
  const unknown = batch.filter(({ admitted }) => admitted.type === 'unknown');
  if (unknown.length > 0) {
    await options.learn(namedBy(unknown.map(({ admitted }) => admitted)));
    // The batch of a probe that was unknown has not said yet which monitors it is about.
    const again = unknown.map(({ message, receivedUs }) =>
      admit(message, { shard, knowledge, receivedUs, isFresh: false }),
    );
    const hidden = namedBy(again);
    if (hidden.length > 0) await options.learn(hidden);
  }
  return batch.flatMap(({ message, admitted, receivedUs }) => {
    const judged =
      admitted.type === 'unknown' ? admit(message, { shard, knowledge, receivedUs, isFresh: true }) : admitted;
    return judged.type === 'unknown' ? [] : [{ message, admitted: judged }];
  });
}

function namedBy(judgements: readonly Admitted[]): number[] {
  return [...new Set(judgements.flatMap((admitted) => (admitted.type === 'unknown' ? admitted.monitorIds : [])))];
}
