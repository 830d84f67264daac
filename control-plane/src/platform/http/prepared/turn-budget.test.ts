import t from 'tap';
import { TurnBudget } from './turn-budget.ts';

const burn = (ms: number): void => {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
};

t.test('what comes at once is spread over turns, in its order', async (t) => {
  const budget = new TurnBudget(4);
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const done: { readonly place: number; readonly turn: number }[] = [];
  const all = Array.from(
    { length: 60 },
    (_, place) =>
      new Promise<void>((resolve) => {
        budget.run(() => {
          burn(1);
          done.push({ place, turn });
          resolve();
        });
      }),
  );
  t.ok(done.length >= 1 && done.length <= 5, 'some of it is done at once');
  await Promise.all(all);
  isOver = true;
  t.same(
    done.map(({ place }) => place),
    Array.from({ length: 60 }, (_, place) => place),
  );
  const perTurn = [...Map.groupBy(done, (one) => one.turn).values()].map(({ length }) => length);
  // The count of turns may be a step behind.
  t.ok(Math.max(...perTurn) <= 10, perTurn.join());
});

t.test('what comes alone never waits', async (t) => {
  const budget = new TurnBudget(4);
  for (let n = 0; n < 5; n += 1) {
    let isDone = false;
    budget.run(() => {
      burn(5);
      isDone = true;
    });
    t.ok(isDone);
    await new Promise((resolve) => setImmediate(resolve));
  }
});
