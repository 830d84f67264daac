import t from 'tap';
import { createGroupCommit, NotWritten } from './group-commit.ts';
import type { GroupCommitOptions } from './group-commit.ts';

const away = new Error('the database is away');

function group(more: Partial<GroupCommitOptions<number, string>>) {
  const batches: (readonly number[])[] = [];
  const { commit } = createGroupCommit<number, string>({
    write: async (items) => {
      batches.push(items);
      return items.map((item) => `wrote ${item}`);
    },
    isAway: (error) => error === away,
    bytesOf: () => 10,
    gatherMs: 5,
    mostItems: 100,
    lanes: 1,
    mostWaiting: { items: 1_000, bytes: 100_000 },
    deadlineMs: 60_000,
    ...more,
  });
  return { commit, batches };
}

void t.test('what comes together is written together, in its order', async (t) => {
  const { commit, batches } = group({});
  const results = await Promise.all([1, 2, 3].map(commit));
  t.same(results, ['wrote 1', 'wrote 2', 'wrote 3']);
  t.same(batches, [[1, 2, 3]]);
  t.equal(await commit(4), 'wrote 4', 'and what comes later, later');
});

void t.test('what comes while a batch is written is the next one, however much it is', async (t) => {
  const held = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const batches: number[][] = [];
  const { commit } = group({
    mostItems: 3,
    write: async (items) => {
      batches.push([...items]);
      began.resolve();
      await held.promise;
      return items.map(String);
    },
  });
  const first = commit(1);
  await began.promise;
  const others = [2, 3, 4, 5].map(commit);
  held.resolve();
  t.same(await Promise.all([first, ...others]), ['1', '2', '3', '4', '5']);
  t.same(batches, [[1], [2, 3, 4], [5]]);
});

void t.test('one that is refused takes no other with it', async (t) => {
  const { commit } = group({
    write: async (items) => {
      if (items.includes(13)) throw new Error('refused');
      return items.map(String);
    },
  });
  const results = await Promise.allSettled([1, 13, 3].map(commit));
  t.same(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
});

void t.test('while the database is away all of a batch are told so at once', async (t) => {
  let tries = 0;
  const { commit } = group({
    write: async () => {
      tries += 1;
      throw away;
    },
  });
  const results = await Promise.allSettled([1, 2, 3].map(commit));
  t.ok(results.every((result) => result.status === 'rejected' && result.reason === away));
  t.equal(tries, 1);
});

void t.test('what has waited too long is told so, and is not written later', async (t) => {
  const held = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const written: number[] = [];
  const { commit } = group({
    deadlineMs: 50,
    write: async (items) => {
      began.resolve();
      await held.promise;
      written.push(...items);
      return items.map(String);
    },
  });
  const first = commit(1);
  await began.promise;
  const second = commit(2);
  await t.rejects(first, NotWritten);
  await t.rejects(second, NotWritten);
  held.resolve();
  t.equal(await group({}).commit(3), 'wrote 3');
  t.same(written, [1], 'what was being written may have been');
});

void t.test('more than may wait is refused at once', async (t) => {
  const held = Promise.withResolvers<void>();
  const write = async (items: readonly number[]) => {
    await held.promise;
    return items.map(String);
  };
  const few = group({ write, mostWaiting: { items: 2, bytes: 100_000 } });
  const waiting = [few.commit(1), few.commit(2)];
  await t.rejects(few.commit(3), NotWritten);
  const small = group({ write, mostWaiting: { items: 100, bytes: 15 } });
  waiting.push(small.commit(1));
  await t.rejects(small.commit(2), NotWritten);
  held.resolve();
  t.same(await Promise.all(waiting), ['1', '2', '1']);
});
