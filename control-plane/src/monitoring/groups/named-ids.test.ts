import { Problem } from '@parallax/api-contract';
import t from 'tap';
import { namedIn, requireAll, somethingNamedIn } from './named-ids.ts';

void t.test('body and query are taken together, each value once with its first place', async (t) => {
  t.same(namedIn('monitor_ids', [7, 8, 7], ['9', '8'].map(Number)), [
    { value: 7, in: 'body', path: '/monitor_ids/0' },
    { value: 8, in: 'body', path: '/monitor_ids/1' },
    { value: 9, in: 'query', path: '/monitor_ids' },
  ]);
  t.same(namedIn('tags', undefined, 'a'), [{ value: 'a', in: 'query', path: '/tags' }]);
  t.same(namedIn('tags', undefined), []);
});

void t.test('a request that names nothing is refused', async (t) => {
  t.throws(() => somethingNamedIn('tags', [], undefined), { code: 'invalid_input' });
  t.equal(somethingNamedIn('tags', ['x'], undefined).length, 1);
});

void t.test('what is not there is named by its place, at most a hundred times', async (t) => {
  const named = namedIn('monitor_ids', [1, 2, 3], 4);
  requireAll(5, named, [1, 2, 3, 4]);
  try {
    requireAll(5, named, [1, 3]);
    t.fail('must throw');
  } catch (error) {
    t.ok(error instanceof Problem);
    t.match(error, { code: 'not_found', message: 'there is no monitor 2 in workspace 5 (and 1 more)' });
    t.match((error as Problem).errors, [
      { in: 'body', path: '/monitor_ids/1', code: 'not_found' },
      { in: 'query', path: '/monitor_ids', code: 'not_found' },
    ]);
  }
  const many = Array.from({ length: 1_000 }, (_, index) => index + 1);
  try {
    requireAll(5, namedIn('monitor_ids', many), []);
  } catch (error) {
    t.equal((error as Problem).errors?.length, 100);
  }
});
