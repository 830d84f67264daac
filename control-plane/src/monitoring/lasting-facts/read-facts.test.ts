import t from 'tap';
import { listingsSeen } from './listings.ts';
import { readFacts, seenFacts } from './read-facts.ts';

const read = (evidence: unknown) => readFacts(JSON.stringify(evidence));
const none = { certificateEndsMs: undefined, domainEndsMs: undefined, listings: undefined };

void t.test('what lasts is read out of evidence', async (t) => {
  const ends = '2027-01-01T00:00:00.000Z';
  t.same(read({ certificate: { not_after: ends } }), { ...none, certificateEndsMs: Date.parse(ends) });
  t.same(read({ details: { expires: ends } }), { ...none, domainEndsMs: Date.parse(ends) });
  t.same(read({ listings: { a: 'listed', b: 'clean', c: 'error' } })?.listings, {
    a: 'listed',
    b: 'clean',
    c: 'error',
  });
  t.equal(read({ status: 200 }), undefined);
});

void t.test('hostile evidence is left out', async (t) => {
  for (const text of [
    '',
    'null',
    '[]',
    '7',
    '{"certificate":null}',
    '{"details":[]}',
    '{"listings":["listed"]}',
    '[[['.repeat(5_000),
  ])
    t.equal(readFacts(text), undefined, text.slice(0, 30));
  for (const not_after of ['', 'soon', 7, null, '1960-01-01', '+099999-01-01T00:00:00Z', `2027-01-01${' '.repeat(50)}`])
    t.equal(read({ certificate: { not_after } }), undefined, String(not_after));
  t.ok(read({ certificate: { not_after: '9999-12-31T23:59:59Z' } }));
  const listings = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`l${n}`, 'clean']));
  t.equal(Object.keys(read({ listings })?.listings ?? {}).length, 70);
  t.same(read({ listings: { 'a\0\ud800': 'clean', '': 'clean', b: 'yes', c: 'listed' } })?.listings, {
    'a\ufffd': 'clean',
    c: 'listed',
  });
  t.same(Object.entries(readFacts('{"listings":{"__proto__":"listed"}}')?.listings ?? {}), [['__proto__', 'listed']]);
  t.equal(Object.keys(read({ listings: { ['x'.repeat(500)]: 'clean' } })?.listings ?? {})[0]?.length, 253);
});

void t.test('of each monitor and probe the latest, in order; listings are for the outbox', async (t) => {
  const row = (monitorId: number, voter: number, eUs: number, evidence?: object) => ({
    monitorId,
    voter,
    eUs,
    probeRevision: 3,
    evidence: evidence && { json: JSON.stringify(evidence) },
  });
  const seen = seenFacts([
    row(2, 1, 5_000_000, { listings: { a: 'clean' } }),
    row(2, 1, 4_000_000, { listings: { a: 'listed' } }),
    row(1, 0, 1_000_000, { details: { expires: '2027-01-01' } }),
    row(1, 2, 1_000_000),
    row(1, 0, 900_000, { certificate: { not_after: '2028-01-01' } }),
  ]);
  const both = { certificateEndsMs: Date.parse('2028-01-01'), domainEndsMs: Date.parse('2027-01-01') };
  t.match(seen, [
    { monitorId: 1, voter: 0, eUs: 1_000_000, facts: both },
    { monitorId: 2, voter: 1, eUs: 5_000_000 },
  ]);
  const changed = { ...row(1, 0, 2_000_000, { details: { expires: '2029-01-01' } }), probeRevision: 4 };
  t.match(seenFacts([changed, row(1, 0, 1_000_000, { certificate: { not_after: '2028-01-01' } })]), [
    { probeRevision: 4, facts: { certificateEndsMs: undefined, domainEndsMs: Date.parse('2029-01-01') } },
  ]);
  const payload = {
    monitor_id: 2,
    probe_id: 1,
    probe_revision: 3,
    at: '1970-01-01T00:00:05.000Z',
    listings: { a: 'clean' },
  };
  t.same(listingsSeen(seen), [{ key: 'monitor:2', kind: 'dnsbl.seen', payload }]);
});
