/** What waits to be written, and how it is told what became of it. */
type Waiting<Item, Result> = {
  readonly item: Item;
  readonly bytes: number;
  readonly sinceMs: number;
  isGivenUp: boolean;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

export type GroupCommitOptions<Item, Result> = {
  /** Writes items together, durably: one result for each, in their order. */
  readonly write: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Whether a batch failed for a reason that each of its items alone would meet too. */
  readonly isAway: (error: unknown) => boolean;
  readonly bytesOf: (item: Item) => number;
  /** How long the first item of a batch waits for others while nothing is being written. Milliseconds. */
  readonly gatherMs: number;
  readonly mostItems: number;
  /** Batches that are written at the same time. */
  readonly lanes: number;
  /** What waits at most; more is refused at once. */
  readonly mostWaiting: { readonly items: number; readonly bytes: number };
  /** What an item waits at most, from its arrival to its answer. Milliseconds. */
  readonly deadlineMs: number;
};

/** An item was not written in time, or was not even taken. Of one that was being written nothing is known. */
export class NotWritten extends Error {
  override readonly name = 'NotWritten';
}

export type GroupCommit<Item, Result> = {
  /** @throws NotWritten, and whatever `write` throws for a batch of one */
  readonly commit: (item: Item) => Promise<Result>;
};

/**
 * Commits items that come one by one in groups: a commit costs a sync of the disk, however much is in it. An item whose time is over while it waits is never
 * written, so whoever was told so may send it again. A batch that fails is tried item by item, so that one that the database refuses takes no other with it.
 */
export function createGroupCommit<Item, Result>(options: GroupCommitOptions<Item, Result>): GroupCommit<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let waitingBytes = 0;
  let busy = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const take = (): Waiting<Item, Result>[] => {
    const batch = waiting.splice(0, options.mostItems);
    waitingBytes -= batch.reduce((sum, { bytes }) => sum + bytes, 0);
    return batch.filter(({ isGivenUp }) => !isGivenUp);
  };

  const schedule = (): void => {
    if (timer !== undefined || busy >= options.lanes || waiting.length === 0) return;
    // What has waited behind a batch has gathered long enough.
    const first = waiting[0];
    const waited = first === undefined ? 0 : performance.now() - first.sinceMs;
    timer = setTimeout(flush, Math.max(0, options.gatherMs - waited));
  };

  function flush(): void {
    timer = undefined;
    const batch = take();
    if (batch.length > 0) {
      busy += 1;
      void writeBatch(batch).finally(() => {
        busy -= 1;
        schedule();
      });
    }
    schedule();
  }

  async function writeBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await options.write(batch.map(({ item }) => item));
      for (const [index, one] of batch.entries()) one.resolve(results[index] as Result);
    } catch (error) {
      if (batch.length === 1 || options.isAway(error)) for (const one of batch) one.reject(error);
      else for (const one of batch) await writeBatch([one]);
    }
  }

  return {
    commit: (item) =>
      new Promise((resolve, reject) => {
        const bytes = options.bytesOf(item);
        const { items: mostItems, bytes: mostBytes } = options.mostWaiting;
        if (waiting.length >= mostItems || waitingBytes + bytes > mostBytes) {
          reject(new NotWritten('too many signals wait to be written'));
          return;
        }
        const one: Waiting<Item, Result> = {
          item,
          bytes,
          sinceMs: performance.now(),
          isGivenUp: false,
          resolve: (result) => {
            clearTimeout(deadline);
            resolve(result);
          },
          reject: (error) => {
            clearTimeout(deadline);
            reject(error instanceof Error ? error : new Error(String(error)));
          },
        };
        const deadline = setTimeout(() => {
          one.isGivenUp = true;
          reject(new NotWritten('the database did not answer in time'));
        }, options.deadlineMs);
        waiting.push(one);
        waitingBytes += bytes;
        schedule();
      }),
  };
}
