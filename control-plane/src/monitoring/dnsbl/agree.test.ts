import type { Listings } from '@parallax/checks';
import t from 'tap';
import { changesOf } from './agree.ts';
import type { Run, View } from './agree.ts';

const dayMs = 86_400_000;
const view = (listings: Listings, seenMs = 0): View => ({ listings, seenMs });
const run = (state: Run['state'], isListed = state === 'listed', isOpen = true): Run => ({
  provider: 'a',
  state,
  isListed,
  isOpen,
});
/** What becomes of list "a": the new state and the news. */
const outcome = (views: readonly View[], before?: Run) => {
  const [change] = changesOf(views, before === undefined ? [] : [before]);
  return change === undefined ? 'same' : `${change.opens?.state ?? 'ends'} ${change.news ?? '-'}`;
};

void t.test('the word of one probe', async (t) => {
  t.equal(outcome([view({ a: 'clean' })]), 'clean -');
  t.equal(outcome([view({ a: 'listed' })]), 'listed dnsbl.listed', 'what is listed from the start is news');
  t.equal(outcome([view({ a: 'listed' })], run('listed')), 'same');
  t.equal(outcome([view({ a: 'listed' })], run('clean')), 'listed dnsbl.listed');
  t.equal(outcome([view({ a: 'clean' })], run('listed')), 'clean dnsbl.delisted');
});

void t.test('an error is no news, and hides none', async (t) => {
  t.equal(outcome([view({ a: 'error' })]), 'error -');
  t.equal(outcome([view({ a: 'error' })], run('listed')), 'error -');
  t.equal(outcome([view({ a: 'listed' })], run('error', true)), 'listed -');
  t.equal(outcome([view({ a: 'clean' })], run('error', true)), 'clean dnsbl.delisted');
  t.equal(outcome([view({ a: 'listed' })], run('error', false)), 'listed dnsbl.listed');
});

void t.test('the majority of those that got an answer; a tie changes nothing', async (t) => {
  const views = (...states: Listings[string][]) => states.map((state) => view({ a: state }));
  t.equal(outcome(views('listed', 'clean', 'clean'), run('listed')), 'clean dnsbl.delisted');
  t.equal(outcome(views('listed', 'listed', 'clean'), run('clean')), 'listed dnsbl.listed');
  t.equal(outcome(views('listed', 'error', 'error'), run('clean')), 'listed dnsbl.listed');
  t.equal(outcome(views('listed', 'clean'), run('listed')), 'same');
  t.equal(outcome(views('listed', 'clean'), run('clean')), 'same');
  t.equal(outcome(views('listed', 'clean')), 'clean -');
});

void t.test('a probe that fell silent is not counted, a list that is asked no more ends', async (t) => {
  const silent = [view({ a: 'listed' }), view({ a: 'clean' }, 3 * dayMs)];
  t.equal(outcome(silent, run('listed')), 'clean dnsbl.delisted');
  t.equal(outcome([view({ a: 'listed' }, 1), ...silent.slice(1)], run('listed')), 'same');
  t.equal(outcome([view({ b: 'clean' })], run('clean', false, false)), 'clean -', 'of b');
  const dropped = changesOf([view({ b: 'clean' })], [run('listed')]);
  t.match(dropped, [{ provider: 'b' }, { provider: 'a', closes: true, opens: undefined, news: undefined }]);
  t.same(changesOf([], []), []);
});

void t.test('after a pause the state goes on, and only what changed meanwhile is news', async (t) => {
  t.equal(outcome([view({ a: 'listed' })], run('listed', true, false)), 'listed -');
  t.equal(outcome([view({ a: 'clean' })], run('listed', true, false)), 'clean dnsbl.delisted');
});
