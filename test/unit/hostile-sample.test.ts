import t from 'tap';
import { leftOut, sampleOf } from '../contract/hostile/sample.ts';

type Request = { readonly kind: 'field' | 'headers'; readonly place: string; readonly part: number };

/** Five routes of two fields each, which meet ten values, and a header that each route meets alone. */
const all = ['a', 'b', 'c', 'd', 'e'].map((route) => ({
  route,
  requests: ['x', 'y']
    .flatMap((place) => Array.from({ length: 10 }, (_none, part): Request => ({ kind: 'field', place, part })))
    .concat({ kind: 'headers', place: '', part: 0 }),
}));

const countOf = (list: readonly { readonly requests: readonly Request[] }[]): number =>
  list.reduce((sum, { requests }) => sum + requests.length, 0);

void t.test('one in one is everything', async (t) => {
  const sample = sampleOf(all, 1, 7);
  t.same(sample, all);
  t.same(leftOut(all, sample), []);
});

void t.test('a sample has a part of every place and every part somewhere, whatever the seed', async (t) => {
  for (const seed of [0, 1, 2, 3, 4, 99]) {
    const sample = sampleOf(all, 4, seed);
    t.same(leftOut(all, sample), [], `seed ${seed}`);
    t.ok(countOf(sample) <= 5 * (2 * 3 + 1), 'which is about a quarter');
    t.same(sampleOf(all, 4, seed), sample, 'and the same each time');
  }
});

void t.test('where there are fewer places than one in so many, they meet every part all the same', async (t) => {
  const two = all.slice(0, 1);
  const sample = sampleOf(two, 8, 0);
  t.same(leftOut(two, sample), []);
  t.equal(countOf(sample), 10 + 1, 'each of two fields meets a half');
});

void t.test('samples of as many seeds are everything together, and none is in two', async (t) => {
  const fields = [0, 1, 2, 3].flatMap((seed) =>
    sampleOf(all, 4, seed).flatMap(({ route, requests }) =>
      requests.filter(({ kind }) => kind === 'field').map(({ place, part }) => `${route} ${place} ${part}`),
    ),
  );
  t.equal(fields.length, 100);
  t.equal(new Set(fields).size, 100);
});

void t.test('what a sample leaves out is named: routes, places and parts', async (t) => {
  t.match(leftOut(all, []), ['a: field x', 'field number 0']);
  const withoutOne = all.map(({ route, requests }) => ({
    route,
    requests: requests.filter(({ part }) => part !== 3),
  }));
  t.same(leftOut(all, withoutOne), ['field number 3']);
  t.same(leftOut(all, sampleOf(all.slice(0, 1), 4, 0)).includes('b: field x'), true);
});
