import t from 'tap';
import type { ComponentView } from '../view/page-view.ts';
import { viewBytes } from './page-cache.ts';
import type { SlugAnswer } from './page-cache.ts';
import { emptyView, stageOfPages } from './testing.ts';

const nameOf = (answer: SlugAnswer | undefined): string =>
  answer?.kind === 'page' ? answer.page.view.name : (answer?.kind ?? 'nothing');

t.test('many who ask at once cost one reading, and a page stays for half a minute', async (t) => {
  const { cache, state, publish, clock } = stageOfPages();
  publish('shop');
  t.equal(cache.peek('shop'), undefined);
  const answers = await Promise.all(Array.from({ length: 50 }, () => cache.get('shop')));
  t.ok(answers.every((answer) => nameOf(answer) === 'Shop'));
  t.equal(state.reads, 1);
  clock.ms += 29_999;
  t.equal(nameOf(cache.peek('shop')), 'Shop');
  await cache.settle();
  t.equal(state.reads, 1);
  state.name = 'Shop 2';
  clock.ms += 1;
  t.equal(nameOf(cache.peek('shop')), 'Shop', 'the old one is shown while it is read anew');
  await cache.settle();
  t.equal(nameOf(cache.peek('shop')), 'Shop 2');
  t.equal(state.reads, 2);
});

t.test('who comes after a quiet time waits for the new page', async (t) => {
  const { cache, state, publish, clock } = stageOfPages();
  publish('shop');
  await cache.get('shop');
  state.name = 'Shop 2';
  clock.ms += 60_000;
  t.equal(cache.peek('shop'), undefined);
  t.equal(nameOf(await cache.get('shop')), 'Shop 2');
});

t.test('a change is read at once for a page that is watched, and by whoever asks for one that is not', async (t) => {
  const { cache, state, publish, clock } = stageOfPages();
  publish('shop');
  publish('other', { workspaceId: 2 });
  await cache.get('shop');
  await cache.get('other');
  clock.ms += 5_000;
  state.name = 'Shop 2';
  cache.markChanged(new Set([1]));
  await cache.settle();
  t.equal(nameOf(cache.peek('shop')), 'Shop 2');
  t.equal(nameOf(cache.peek('other')), 'Shop', 'another workspace is left alone');
  clock.ms += 70_000;
  t.equal(cache.isWatched(), false);
  state.name = 'Shop 3';
  cache.markAllChanged();
  await cache.settle();
  t.equal(cache.peek('shop'), undefined);
  t.equal(nameOf(await cache.get('shop')), 'Shop 3');
});

t.test('a change that comes while a page is read is read again', async (t) => {
  const { cache, state, publish, clock } = stageOfPages();
  publish('shop');
  await cache.get('shop');
  clock.ms += 5_000;
  let release = (): void => undefined;
  state.hold = new Promise((resolve) => {
    release = resolve;
  });
  cache.markChanged(new Set([1]));
  await new Promise((resolve) => setImmediate(resolve));
  state.name = 'Shop 2';
  cache.markChanged(new Set([1]));
  release();
  state.hold = undefined;
  await cache.settle();
  t.equal(nameOf(cache.peek('shop')), 'Shop', 'that reading had begun before');
  await cache.settle();
  t.equal(nameOf(cache.peek('shop')), 'Shop 2');
});

t.test(
  'without a database a page is shown as it was, with its age, and read anew when the database is back',
  async (t) => {
    const { cache, state, publish, clock, failures } = stageOfPages();
    publish('shop');
    await cache.get('shop');
    state.isAway = true;
    clock.ms += 3_600_000;
    const answer = await cache.get('shop');
    t.equal(nameOf(answer), 'Shop');
    t.ok(answer.kind === 'page' && answer.page.isOld && answer.page.readMs < clock.ms - 3_000_000);
    t.strictSame(failures, ['shop']);
    clock.ms += 1_000;
    cache.peek('shop');
    await cache.settle();
    t.equal(failures.length, 1, 'the database is left alone for a while');
    state.isAway = false;
    state.name = 'Shop 2';
    clock.ms += 5_000;
    t.equal(nameOf(cache.peek('shop')), 'Shop', 'nobody waits');
    await cache.settle();
    const after = cache.peek('shop');
    t.equal(nameOf(after), 'Shop 2');
    t.ok(after?.kind === 'page' && !after.page.isOld);
  },
);

t.test('a database that hangs does not hang the page', async (t) => {
  const { cache, state, publish, clock } = stageOfPages();
  publish('shop');
  await cache.get('shop');
  let release = (): void => undefined;
  state.hold = new Promise((resolve) => {
    release = resolve;
  });
  state.hangs = true;
  clock.ms += 60_000;
  t.equal(nameOf(await cache.get('shop')), 'Shop');
  const next = cache.peek('shop');
  t.ok(
    next?.kind === 'page' && next.page.isOld,
    'only the first waits; the next are shown what there is, with its age',
  );
  state.name = 'Renamed';
  release();
  await cache.settle();
  const after = cache.peek('shop');
  t.ok(after?.kind === 'page' && !after.page.isOld, 'what was read late counts');
});

t.test('after a start without a database the kept page is shown; without one the failure is told', async (t) => {
  const first = stageOfPages();
  first.publish('shop');
  await first.cache.get('shop');
  const { cache, state, kept, clock, publish } = stageOfPages();
  const one = first.kept.get('shop');
  t.ok(one);
  if (one !== undefined) kept.set('shop', one);
  state.isAway = true;
  clock.ms += 10_000;
  const answer = await cache.get('shop');
  t.ok(answer.kind === 'page' && answer.page.isOld);
  await t.rejects(cache.get('unknown'), { message: 'the database is away' });
  publish('shop');
  state.isAway = false;
  clock.ms += 10_000;
  cache.peek('shop');
  await cache.settle();
  const after = cache.peek('shop');
  t.ok(after?.kind === 'page' && !after.page.isOld);
});

t.test(
  'a slug without a page is known for a minute, a former one leads on, and a page that was withdrawn is gone',
  async (t) => {
    const { cache, state, pages, publish, clock, missing } = stageOfPages();
    t.equal((await cache.get('shop')).kind, 'missing');
    publish('shop');
    t.equal(cache.peek('shop')?.kind, 'missing');
    cache.markChanged(new Set([1]));
    t.equal(nameOf(await cache.get('shop')), 'Shop', 'a page that was published is not kept waiting');
    publish('old', { slug: 'shop' });
    t.strictSame(await cache.get('old'), { kind: 'moved', slug: 'shop', isPrivate: false });
    pages.delete('shop');
    clock.ms += 60_000;
    t.equal((await cache.get('shop')).kind, 'missing');
    t.strictSame(missing, ['shop', 'shop', 'shop']);
    t.equal(state.reads, 1);
    for (let count = 0; count < 12_000; count += 1) await cache.get(`none-${count}`);
    t.equal(cache.size, 0, 'names that are made up leave no page');
  },
);

t.test('pages that nobody has asked for the longest make room', async (t) => {
  const { cache, publish, clock } = stageOfPages({ mostBytes: 10 * viewBytes(emptyView('shop')) });
  for (let count = 0; count < 15; count += 1) {
    publish(`page-${count}`);
    clock.ms += 10;
    await cache.get(`page-${count}`);
  }
  t.equal(cache.size, 10, 'as many as have room');
  t.equal(cache.peek('page-0'), undefined);
  t.equal(nameOf(cache.peek('page-14')), 'Shop');
});

t.test('what a page tells counts as it takes memory', async (t) => {
  const component = {
    id: 'c8f2a1b0d3e4',
    name: 'Checkout',
    description: '',
    status: 'operational',
    sinceMs: null,
    showsUptime: true,
    uptimePercent: 100,
    measuredPercent: 100,
    days: Array.from({ length: 90 }, () => 'u' as const),
    troubles: [],
  } as const;
  const pageOf = (components: readonly ComponentView[]) =>
    viewBytes({
      ...emptyView('shop'),
      sections: [{ id: null, name: null, status: 'operational', components }],
    });
  const none = pageOf([]);
  const one = pageOf([component]) - none;
  t.equal(pageOf(Array.from({ length: 40 }, () => component)), none + 40 * one);
  const timed = pageOf([{ ...component, responseTimesMs: Array.from({ length: 90 }, () => 120.5) }]) - none;
  t.ok(timed >= one + 90 * 16, `${timed} bytes: a number with its place takes 16 at least`);
});

t.test('one change that touches many pages reads few of them at once, and all in the end', async (t) => {
  const { cache, state, publish, clock } = stageOfPages();
  for (let count = 0; count < 20; count += 1) {
    publish(`page-${count}`);
    await cache.get(`page-${count}`);
  }
  clock.ms += 5_000;
  const before = state.reads;
  const { promise, resolve } = Promise.withResolvers<void>();
  state.hold = promise;
  state.name = 'Shop 2';
  cache.markChanged(new Set([1]));
  await new Promise((next) => setImmediate(next));
  t.equal(state.reads - before, 4);
  state.hold = undefined;
  clock.ms += 1_600;
  t.equal(nameOf(await cache.get('page-19')), 'Shop 2', 'whoever asks for one does not wait behind the others');
  resolve();
  await cache.settle();
  for (let count = 4; count < 20; count += 1) t.equal(nameOf(cache.peek(`page-${count}`)), 'Shop 2');
  t.equal(state.reads - before, 20, 'each once');
});
