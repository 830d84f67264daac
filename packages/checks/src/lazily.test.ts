import t from 'tap';
import { changed, lazily } from './lazily.ts';

void t.test('a value is made when it is first asked for, and once', async (t) => {
  let made = 0;
  const value = lazily(() => {
    made += 1;
    return undefined;
  });
  t.equal(made, 0);
  t.equal(value(), undefined);
  t.equal(value(), undefined);
  t.equal(made, 1);
});

void t.test('a changed copy asks for nothing', async (t) => {
  let asked = 0;
  const value = {
    name: 'a',
    get dear() {
      asked += 1;
      return 'd';
    },
  };
  const copy = changed(value, { name: 'b' });
  t.equal(asked, 0);
  t.same({ ...copy }, { name: 'b', dear: 'd' });
  t.equal(value.name, 'a');
});
