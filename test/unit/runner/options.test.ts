import t from 'tap';
import { readOptions } from '../../runner/options.ts';

const options = (...args: string[]) => readOptions(args, () => 4);
const names = (...args: string[]) => options(...args).stages.map(({ name }) => name);

t.test('without arguments the usual stages are meant, by a tier those of it, by a pattern all', async (t) => {
  t.same(names(), ['unit', 'stories', 'contract']);
  t.same(names('--tier', 'gate'), ['slow', 'walls', 'end-to-end', 'simulation', 'gate', 'faults', 'bare']);
  t.same(names('--stage', 'unit,faults'), ['unit', 'faults']);
  t.ok(names('consensus').includes('faults'));
  t.notOk(names('consensus').includes('bare'));
  t.same(options('consensus').patterns, ['consensus']);
});

t.test('what changed is meant since the last commit or since a named one', async (t) => {
  t.equal(options().since, undefined);
  t.equal(options('--changed').since, 'HEAD');
  t.equal(options('--changed', '--since', 'main~3').since, 'main~3');
});

t.test('an order is drawn only when that is asked for', async (t) => {
  t.equal(options().seed, undefined);
  t.equal(options('--shuffle').seed, 4);
  t.equal(options('--shuffle', '--seed', '9').seed, 9);
});

t.test('what cannot be meant is refused with its name', async (t) => {
  t.throws(() => options('--stage', 'units'), { message: /there is no stage units; there are slow, unit, / });
  t.throws(() => options('--jobs', '0'), { message: /--jobs is a whole number from 1 on/ });
  t.throws(() => options('--repeat', 'x'), { message: /--repeat/ });
  t.throws(() => options('--nonsense'), { message: /--nonsense/ });
});
