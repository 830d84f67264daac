import t from 'tap';
import type { CheckOutcome, Evidence, Listings } from '../outcome.ts';
import { outcomeColumns } from './columns.ts';
import { lastingFactsOf } from './lasting-facts.ts';
import { Novelty } from './novelty.ts';

const hourMs = 3_600_000;
const certificate = (notAfter: string): NonNullable<Evidence['certificate']> => ({
  subject: 'CN=a.test',
  issuer: 'CN=test',
  names: ['a.test'],
  not_before: '2026-01-01T00:00:00.000Z',
  not_after: notAfter,
  fingerprint_sha256: 'ab',
  days_left: 30,
});
const good = (evidence?: Evidence): CheckOutcome => ({
  outcome: 'ok',
  total: 1,
  phases: {},
  ...(evidence && { evidence }),
});
const secured = (notAfter: string): CheckOutcome => good({ status: 200, certificate: certificate(notAfter) });
const registered = (expires: string): CheckOutcome => good({ details: { domain: 'a.test', expires } });
const listed = (listings: Listings): CheckOutcome => ({
  ...good({ listings }),
  ...(Object.values(listings).includes('listed') && {
    outcome: 'fail',
    source: 'target',
    code: 'dnsbl_listed',
    message: 'm',
  }),
});

/** Which of the results carry evidence. */
function told(...results: readonly (readonly [atHours: number, outcome: CheckOutcome])[]): boolean[] {
  const novelty = new Novelty();
  return results.map(
    ([atHours, outcome]) => novelty.take(1, outcome, { nowMs: atHours * hourMs, probeRevision: 1 }).isNew,
  );
}

void t.test('a certificate is told when its end is another, and once a day', async (t) => {
  const [first, second] = ['2027-01-01T00:00:00.000Z', '2027-04-01T00:00:00.000Z'];
  t.same(
    told(
      [0, secured(first)],
      [1, secured(first)],
      [2, good()],
      [3, secured(first)],
      [4, secured(second)],
      [5, secured(second)],
      [27.9, secured(second)],
      [28, secured(second)],
      [29, secured(second)],
    ),
    [true, false, false, false, true, false, false, true, false],
  );
});

void t.test("so is a domain's registration; what has nothing that lasts is never told", async (t) => {
  t.same(told([0, registered('a')], [1, registered('a')], [2, registered('b')]), [true, false, true]);
  t.same(told([0, good()], [100, good({ status: 200, details: { days_left: 4 } })]), [false, false]);
});

void t.test(
  'listings are told when an answer changes, under the same error code too; silence once an hour',
  async (t) => {
    t.same(
      told(
        [0, listed({ a: 'clean', b: 'clean' })],
        [1, listed({ a: 'listed', b: 'clean' })],
        [2, listed({ a: 'listed', b: 'listed' })],
        [2.1, listed({ a: 'listed', b: 'error' })],
        [2.2, listed({ a: 'listed', b: 'listed' })],
        [3, listed({ a: 'listed', b: 'error' })],
        [3.1, listed({ a: 'listed', b: 'clean' })],
        [3.2, listed({ a: 'listed' })],
      ),
      [true, true, true, false, false, true, true, true],
    );
  },
);

void t.test('a result that is told for another reason tells what lasts too', async (t) => {
  const failing: CheckOutcome = {
    ...secured('x'),
    outcome: 'fail',
    source: 'target',
    code: 'http_status',
    message: 'm',
  };
  t.same(told([0, failing], [23, { ...failing, code: 'http_header' }], [25, failing], [26, secured('x')]), [
    true,
    true,
    true,
    false,
  ]);
});

void t.test('what is changed or forgotten is told anew', async (t) => {
  const novelty = new Novelty();
  const take = (probeRevision: number) => novelty.take(1, secured('x'), { nowMs: 0, probeRevision });
  t.same(take(1), { isNew: true, isUrgent: true });
  t.same(take(1), { isNew: false, isUrgent: false });
  t.same(take(2), { isNew: true, isUrgent: false }, 'and need not hurry');
  t.same(take(1), { isNew: true, isUrgent: false }, 'the end of a check that was under way');
  t.same(take(2), { isNew: true, isUrgent: false }, 'hides nothing');
  novelty.forget(1);
  t.match(take(2), { isNew: true });
});

void t.test('of a good result only what lasts is kept', async (t) => {
  const evidence: Evidence = {
    status: 200,
    body: 'b',
    headers: [['a', 'b']],
    certificate: certificate('x'),
    listings: { a: 'clean' },
    details: { expires: 'y', server: 's' },
  };
  t.same(Object.keys(lastingFactsOf(evidence)), ['certificate', 'listings', 'details']);
  t.same(JSON.parse(outcomeColumns(good(evidence), true).evidence?.json ?? ''), lastingFactsOf(evidence));
  const warning: CheckOutcome = {
    ...good(evidence),
    outcome: 'warn',
    source: 'target',
    code: 'tls_expires_soon',
    message: 'm',
  };
  t.same(JSON.parse(outcomeColumns(warning, true).evidence?.json ?? ''), evidence);
});
