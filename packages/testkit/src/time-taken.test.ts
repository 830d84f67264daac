import t from 'tap';
import { lateness, processorMs } from './time-taken.ts';

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

void t.test('waiting takes no processor time, and work does', async (t) => {
  t.ok((await processorMs(() => wait(300))) < 200);
  let sum = 0;
  const took = await processorMs(() => {
    for (let index = 0; index < 1e8; index += 1) sum += index % 7;
  });
  t.ok(took > 5, `${took} ms for ${sum}`);
});

void t.test('a run is late by what it takes longer than the timer beside it', async (t) => {
  const early = await lateness(20_000, async () => 'result');
  t.equal(early.result, 'result');
  t.ok(early.late < 0);
  let fired = 0;
  const late = await lateness(
    10,
    async () => {
      await wait(60);
    },
    () => (fired += 1),
  );
  t.ok(late.late > 0);
  t.equal(fired, 1);
  await t.rejects(
    lateness(20_000, async () => {
      throw new Error('as it is');
    }),
    /as it is/,
  );
});
