import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { OutcomeNotes } from './outcome-notes.ts';
import type { Done } from './outcomes.queries.ts';

const doneOf = (id: number): Done => ({
  id,
  workspaceId: 1,
  webhookId: 1,
  tries: 1,
  attempt: {
    atMs: Date.now(),
    durationMs: 1,
    statusCode: 200,
    errorCode: null,
    error: null,
    answer: null,
    retryAfterMs: undefined,
  },
  outcome: { state: 'delivered' },
});

void t.test(
  'what became of deliveries is noted soon, also while what is known of webhooks waits for its second',
  async (t) => {
    const noted: { readonly id: number; readonly afterMs: number }[] = [];
    const known: number[][] = [];
    const added = new Map<number, number>();
    const notes = new OutcomeNotes({
      noteDeliveries: async (done) => {
        for (const { id } of done) noted.push({ id, afterMs: performance.now() - (added.get(id) ?? 0) });
      },
      noteWebhooks: async (done) => void known.push(done.map(({ id }) => id)),
      isLeased: () => true,
      onNoted: () => undefined,
      onError: (error) => t.fail(String(error)),
    });
    const add = (id: number): void => {
      added.set(id, performance.now());
      notes.add(doneOf(id));
    };
    // The first is told of its webhook at once; the second waits for that.
    for (const id of [1, 2, 3]) {
      add(id);
      await sleep(120);
    }
    t.same(
      noted.map(({ id }) => id),
      [1, 2, 3],
    );
    for (const { id, afterMs } of noted) t.ok(afterMs < 500, `${id} after ${Math.round(afterMs)} ms`);
    t.same(known, [[1]]);
    await notes.all(true);
    t.same(known, [[1], [2, 3]]);
  },
);
