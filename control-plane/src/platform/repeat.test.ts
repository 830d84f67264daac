import { setTimeout as sleep } from 'node:timers/promises';
import { leakGuard } from '@parallax/testkit';
import t from 'tap';
import { repeat } from './repeat.ts';

leakGuard(t);

void t.test('runs never overlap, whoever asks for one, and one that fails is not the last', async (t) => {
  let runs = 0;
  let atOnce = 0;
  let most = 0;
  const errors: unknown[] = [];
  const repeated = repeat({
    everyMs: 3_600_000,
    work: async () => {
      runs += 1;
      most = Math.max(most, (atOnce += 1));
      await sleep(5);
      atOnce -= 1;
      if (runs === 2) throw new Error('once');
    },
    onError: (error) => errors.push(error),
  });
  for (let round = 0; round < 4; round += 1) await Promise.all([repeated.soon(), repeated.soon()]);
  t.equal(runs, 4);
  t.equal(most, 1);
  t.match(errors, [{ message: 'once' }]);
  await repeated.stop();
});

void t.test('a stop tells the run that is under way, waits for it, and lets none begin', async (t) => {
  let runs = 0;
  let steps = 0;
  const begun = Promise.withResolvers<void>();
  const repeated = repeat({
    everyMs: 3_600_000,
    work: async (isStopped) => {
      runs += 1;
      while (!isStopped()) {
        steps += 1;
        begun.resolve();
        await sleep(1);
      }
    },
    onError: (error) => t.fail(String(error)),
  });
  const asked = repeated.soon();
  await begun.promise;
  await repeated.stop();
  const after = steps;
  await asked;
  await repeated.soon();
  t.equal(steps, after);
  t.equal(runs, 1);
});

void t.test('work that throws before its first pause is an error like any other', async (t) => {
  const errors: unknown[] = [];
  const repeated = repeat({
    everyMs: 3_600_000,
    work: () => {
      throw new Error('at once');
    },
    onError: (error) => errors.push(error),
  });
  await repeated.soon();
  await repeated.soon();
  t.equal(errors.length, 2);
  await repeated.stop();
});

void t.test('it repeats by itself', async (t) => {
  const thrice = Promise.withResolvers<void>();
  let runs = 0;
  const repeated = repeat({
    everyMs: 1,
    work: async () => {
      runs += 1;
      if (runs === 3) thrice.resolve();
    },
    onError: (error) => t.fail(String(error)),
  });
  await thrice.promise;
  await repeated.stop();
});
