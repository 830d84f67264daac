import type { Diagnosis } from '@parallax/checks';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { conclude, isAnyGiven } from './conclusion.ts';
import { chooseSides } from './pair.ts';
import type { Witness } from './pair.ts';
import { wantedBy } from './wanted.ts';

const at = '2026-03-01T10:00:00.123Z';
const transition = (to: string, votes: Record<number, string>) => ({
  monitor_id: 4,
  workspace_id: 2,
  from: 'UP',
  to,
  at,
  evidence: {
    rule: 'some_failing',
    voters: Object.entries(votes).map(([voter, vote]) => ({ voter: Number(voter), vote })),
  },
});

void t.test('only a PARTIAL by probes that differ is wanted', async (t) => {
  const wanted = { monitorId: 4, workspaceId: 2, sinceMs: Date.parse(at) };
  t.same(wantedBy(transition('PARTIAL', { 1: 'DOWN', 2: 'UP' })), wanted);
  t.same(wantedBy(transition('PARTIAL', { 1: 'TIMEOUT', 2: 'WARNING', 3: 'UP' })), wanted);
  t.equal(wantedBy(transition('DOWN', { 1: 'DOWN', 2: 'DOWN', 3: 'UP' })), undefined);
  t.equal(wantedBy(transition('PARTIAL', { 1: 'DOWN' })), undefined, 'a quorum out of reach, and nobody who passes');
  t.equal(wantedBy(transition('PARTIAL', { 0: 'UP', 2: 'DOWN' })), undefined, 'the control plane is no probe');
  t.equal(wantedBy({ ...transition('PARTIAL', {}), evidence: null }), undefined);
  t.throws(() => wantedBy({ to: 'PARTIAL' }), 'what is no transition stays in the outbox');
});

const witness = fc.record({
  probeId: fc.integer({ min: 1, max: 50 }),
  name: fc.constant('p'),
  region: fc.constantFrom('eu', 'us'),
  isFailing: fc.boolean(),
  sinceMs: fc.nat(100),
});
const witnesses = fc.uniqueArray(witness, { selector: ({ probeId }) => probeId, maxLength: 9 });

void t.test('whoever votes: both sides or none, each of its own kind, whatever the order', async () => {
  fc.assert(
    fc.property(
      witnesses.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
      ([all, shuffled]) => {
        const sides = chooseSides(all);
        const differ = all.some(({ isFailing }) => isFailing) && all.some(({ isFailing }) => !isFailing);
        if (sides === undefined) return !differ;
        const { failing, passing } = sides;
        const longest = Math.min(...all.filter(({ isFailing }) => isFailing).map(({ sinceMs }) => sinceMs));
        const neighbours = all.filter(({ isFailing, region }) => !isFailing && region === failing[0]?.region);
        return (
          differ &&
          failing.length <= 2 &&
          passing.length <= 2 &&
          failing.every(({ isFailing }) => isFailing) &&
          passing.every(({ isFailing }) => !isFailing) &&
          failing[0]?.sinceMs === longest &&
          (neighbours.length === 0 || passing[0]?.region === failing[0]?.region) &&
          JSON.stringify(chooseSides(shuffled)) === JSON.stringify(sides)
        );
      },
    ),
  );
});

const seen = (address: string): Diagnosis => ({
  host: 'a.test',
  port: 80,
  dns: { addresses: [address], duration_us: 1, failures: [] },
  connections: [],
});
const probe = (probeId: number, name: string): Witness => ({
  probeId,
  name,
  region: 'eu',
  isFailing: probeId === 1,
  sinceMs: 0,
});

void t.test('both sides are laid beside each other and named; a missing one is said', async (t) => {
  const failing = { witness: probe(1, 'probe a'), diagnosis: seen('127.0.0.2') };
  const passing = { witness: probe(2, 'probe b'), diagnosis: seen('127.0.0.3') };
  t.match(conclude(failing, passing), {
    failing: { probeId: 1, diagnosis: { host: 'a.test' } },
    passing: { probeId: 2 },
    differences: [{ field: 'dns.addresses', a: '127.0.0.2', b: '127.0.0.3' }],
    summary: 'probe a got 127.0.0.2, probe b 127.0.0.3.',
  });
  const refused = { witness: probe(2, 'probe b'), refused: 'it is busy' };
  t.match(conclude(failing, refused), {
    passing: { probeId: 2, diagnosis: undefined },
    differences: [],
    summary: 'probe b gave no diagnosis: it is busy.',
  });
  t.ok(isAnyGiven(failing, refused));
  t.notOk(isAnyGiven(refused, refused));
});
