import t from 'tap';
import { availabilityOf, noTime } from '../statistics/index.ts';
import { errorBudget } from './budget.ts';

const measured = (upMs: number, downMs: number) => availabilityOf({ ...noTime(), upMs, downMs });
const none = { hour: null, sixHours: null };

t.test('a budget is a whole number of milliseconds, the nearest one', async (t) => {
  t.equal(errorBudget(99.9, measured(1_499, 0), none).budgetMs, 1, '1.499');
  t.equal(errorBudget(99.9, measured(1_500, 0), none).budgetMs, 2, '1.5');
  t.equal(errorBudget(99.9, measured(1_501, 0), none).budgetMs, 2, '1.501');
});

t.test('both ends of a window have a burn rate, where it is as long as they are', async (t) => {
  const budget = errorBudget(99, measured(10_000, 0), { hour: measured(98, 2), sixHours: measured(970, 30) });
  t.equal(budget.burnRate1h, 2);
  t.equal(budget.burnRate6h, 3);
  t.equal(errorBudget(99, measured(10_000, 0), { hour: measured(98, 2), sixHours: null }).burnRate6h, null);
});

t.test('a target that leaves nothing has no burn rate, whatever happened', async (t) => {
  const { burnRate, consumedShare, isMet } = errorBudget(100, measured(50, 50), none);
  t.same([burnRate, consumedShare, isMet], [null, null, false]);
});
