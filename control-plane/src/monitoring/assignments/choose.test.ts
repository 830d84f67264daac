import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { chooseProbes } from './choose.ts';
import type { MonitorWants, ProbeCandidate } from './choose.ts';
import { planSeats } from './rebalance.ts';
import { inMessages, toSteps } from './snapshot.ts';

const anything: MonitorWants = { probeIds: null, regions: null, requires: [] };

function probe(id: number, region: string, more: Partial<ProbeCandidate> = {}): ProbeCandidate {
  return { id, region, capabilities: [], isLost: false, isPaused: false, hasConnected: true, load: 0, ...more };
}

function chosen(...args: Parameters<typeof chooseProbes>): readonly number[] | string {
  const choice = chooseProbes(...args);
  return choice.kind === 'probes' ? choice.probeIds : choice.kind === 'refused' ? choice.reason : choice.kind;
}

t.test('three probes in different regions first, then filled up, the least loaded before others', async (t) => {
  const probes = [probe(1, 'eu'), probe(2, 'eu'), probe(3, 'us'), probe(4, 'asia', { load: 9 }), probe(5, 'asia')];
  t.same(chosen(anything, probes, []), [1, 3, 5]);
  t.same(chosen(anything, [probe(1, 'eu'), probe(2, 'eu'), probe(3, 'us')], []), [1, 2, 3]);
  t.same(chosen(anything, [probe(7, 'eu')], []), [7], 'fewer where there are fewer');
});

t.test('seats that are held are kept, and free ones filled', async (t) => {
  const probes = [probe(1, 'eu'), probe(2, 'eu'), probe(3, 'us'), probe(4, 'asia')];
  t.same(chosen(anything, probes, [1, 2, 3]), [1, 2, 3], 'also where another region would be new');
  t.same(chosen(anything, probes, [2]), [2, 3, 4]);
  t.same(chosen(anything, [probe(1, 'eu', { isLost: true }), probe(2, 'us')], [1]), [1, 2], 'also of a lost probe');
});

t.test('lost and paused probes get seats only when there is nothing else', async (t) => {
  const lost = probe(1, 'eu', { isLost: true });
  const paused = probe(2, 'us', { isPaused: true });
  t.same(chosen(anything, [lost, paused, probe(3, 'eu')], []), [3]);
  t.same(chosen(anything, [lost, paused], []), [1]);
  t.same(chosen(anything, [paused], []), [2]);
});

t.test('only probes that can run the check, and none able is refused', async (t) => {
  const wants = { ...anything, requires: ['icmp'] };
  t.same(chosen(wants, [probe(1, 'eu'), probe(2, 'us', { capabilities: ['icmp'] })], []), [2]);
  t.equal(chosen(wants, [probe(1, 'eu')], []), 'no_probe_able');
  t.equal(chosen(wants, [], []), 'central', 'no probe at all: the control plane checks');
});

t.test('a probe that has never connected gets no seat, and may be named all the same', async (t) => {
  const never = probe(1, 'eu', { hasConnected: false });
  t.same(chosen(anything, [never, probe(2, 'us')], []), [2]);
  t.same(chosen(anything, [never, probe(2, 'us')], [1, 2]), [2], 'also where it held one');
  t.equal(chosen(anything, [never], []), 'central', 'it is as if there were no probe');
  t.same(chosen({ ...anything, probeIds: [1, 2] }, [never, probe(2, 'us')], []), [2]);
  t.same(
    chosen({ ...anything, probeIds: [1], requires: ['icmp'] }, [never], []),
    [],
    'what it is capable of is not known',
  );
  t.equal(chosen({ ...anything, regions: ['eu'] }, [never, probe(2, 'us')], []), 'no_probe_able');
});

t.test('named probes and regions are honoured', async (t) => {
  const probes = [probe(1, 'eu'), probe(2, 'eu'), probe(3, 'us'), probe(4, 'asia', { isLost: true })];
  t.same(chosen({ ...anything, probeIds: [4, 1] }, probes, [2, 3]), [1, 4]);
  t.equal(chosen({ ...anything, probeIds: [1, 9] }, probes, []), 'unknown_probe');
  t.equal(chosen({ ...anything, probeIds: [1], requires: ['icmp'] }, probes, []), 'no_probe_able');
  t.same(chosen({ ...anything, regions: ['eu'] }, probes, [3]), [1, 2]);
  t.equal(chosen({ ...anything, regions: ['mars'] }, probes, []), 'no_probe_able');
  const wide = Array.from({ length: 5 }, (_, index) => probe(index + 1, `r${index}`));
  t.equal(
    chosen({ ...anything, regions: wide.map((one) => one.region) }, wide, []).length,
    5,
    'one in each named region',
  );
});

const probes = fc.uniqueArray(
  fc.record({
    id: fc.integer({ min: 1, max: 12 }),
    region: fc.constantFrom('eu', 'us', 'asia'),
    capabilities: fc.subarray(['icmp', 'ipv6']),
    isLost: fc.boolean(),
    isPaused: fc.boolean(),
    hasConnected: fc.boolean(),
    load: fc.nat(5),
  }),
  { selector: (one) => one.id, maxLength: 8 },
);
const wants = fc.record({
  probeIds: fc.constant(null),
  regions: fc.option(fc.subarray(['eu', 'us', 'asia'])),
  requires: fc.subarray(['icmp', 'ipv6']),
});

t.test('a choice made again changes nothing, has no doubles, and names able probes only', async (t) => {
  fc.assert(
    fc.property(wants, probes, fc.uniqueArray(fc.integer({ min: 1, max: 12 })), (wanted, all, current) => {
      const first = chooseProbes(wanted, all, current);
      const connected = all.filter((one) => one.hasConnected);
      if (first.kind !== 'probes') return connected.length === 0 ? first.kind === 'central' : first.kind === 'refused';
      const again = chooseProbes(wanted, all, first.probeIds);
      const able = connected.filter((one) => wanted.requires.every((word) => one.capabilities.includes(word)));
      return (
        again.kind === 'probes' &&
        again.probeIds.join() === first.probeIds.join() &&
        new Set(first.probeIds).size === first.probeIds.length &&
        first.probeIds.every((id) => able.some((one) => one.id === id))
      );
    }),
    { numRuns: 500 },
  );
  t.pass('held');
});

t.test(
  'a plan leaves nothing to plan: revoked seats go, moved ones are opened anew, free ones are filled',
  async (t) => {
    const all = [probe(1, 'eu'), probe(2, 'us'), probe(3, 'asia')].map((one) => ({ ...one, workspaceId: null }));
    const monitor = {
      id: 5,
      workspaceId: 1,
      protocol: 'http',
      url: 'https://example.com/',
      settings: {},
      wantedProbeIds: null,
      wantedRegions: null,
      seats: [
        { probeId: 1, region: 'elsewhere' },
        { probeId: 9, region: 'eu' },
      ],
      supplements: [],
    };
    t.same(planSeats([monitor], all), [
      { operation: 'close', monitorId: 5, probeId: 1 },
      { operation: 'close', monitorId: 5, probeId: 9 },
      { operation: 'open', monitorId: 5, probeId: 1, region: 'eu' },
      { operation: 'open', monitorId: 5, probeId: 2, region: 'us' },
      { operation: 'open', monitorId: 5, probeId: 3, region: 'asia' },
    ]);
    const settled = all.map(({ id, region }) => ({ probeId: id, region }));
    t.same(planSeats([{ ...monitor, seats: settled }], all), []);
    const named = { ...monitor, wantedProbeIds: [9], seats: [{ probeId: 9, region: 'eu' }] };
    t.same(
      planSeats([named], all),
      [{ operation: 'close', monitorId: 5, probeId: 9 }],
      'a named probe is not replaced',
    );
    const late = { ...named, wantedProbeIds: [9, 2], seats: [] };
    t.same(
      planSeats([late], all),
      [{ operation: 'open', monitorId: 5, probeId: 2, region: 'us' }],
      'a named probe that has connected since gets its seat',
    );
    const icmp = { ...late, protocol: 'icmp', url: 'icmp://example.com' };
    t.same(planSeats([icmp], all), [], 'but not one that turned out unable');
    const filling = {
      ...monitor,
      seats: [{ probeId: 9, region: 'eu' }],
      supplements: [{ probeId: 3, standsInFor: 9 }],
    };
    t.same(
      planSeats([filling], all.slice(2)),
      [
        { operation: 'close', monitorId: 5, probeId: 9 },
        { operation: 'close', monitorId: 5, probeId: 3 },
        { operation: 'open', monitorId: 5, probeId: 3, region: 'asia' },
      ],
      'the supplement of a revoked probe takes its seat',
    );
    t.same(
      planSeats([filling], [...all.slice(0, 1), ...all.slice(2).map((one) => ({ ...one, isLost: true }))]),
      [
        { operation: 'close', monitorId: 5, probeId: 9 },
        { operation: 'open', monitorId: 5, probeId: 1, region: 'eu' },
      ],
      'but not while it is lost itself',
    );
    const foreign = [{ ...probe(4, 'eu'), workspaceId: 2 }];
    t.same(planSeats([{ ...monitor, seats: [] }], foreign), [], "another workspace's probe is no candidate");
  },
);

t.test('a plan for many monitors spreads them', async (t) => {
  const all = Array.from({ length: 6 }, (_, index) => ({ ...probe(index + 1, 'eu'), workspaceId: null }));
  const monitors = Array.from({ length: 100 }, (_, index) => ({
    id: index + 1,
    workspaceId: 1,
    protocol: 'http',
    url: 'https://example.com/',
    settings: {},
    wantedProbeIds: null,
    wantedRegions: null,
    seats: [],
    supplements: [],
  }));
  const counts = new Map<number, number>();
  for (const { probeId } of planSeats(monitors, all)) counts.set(probeId, (counts.get(probeId) ?? 0) + 1);
  t.same([...counts.values()], [50, 50, 50, 50, 50, 50]);
});

const configuration = (bytes: number) => ({
  probeRevision: 1,
  shard: 0,
  protocol: 'http',
  url: 'http://example.org',
  intervalSeconds: 60,
  timeoutSeconds: 10,
  confirmations: 2,
  degradedThresholdMs: 0,
  settingsJson: Buffer.alloc(bytes),
  supplement: false,
  privateTargets: undefined,
});

t.test('messages are bounded by number and by size, and steps end at rising revisions', async (t) => {
  const rows = Array.from({ length: 1_200 }, (_, index) => ({
    monitorId: index + 1,
    revision: BigInt(index + 1),
    isWanted: true,
    configuration: configuration(index < 40 ? 65_536 : 10),
  }));
  const messages = inMessages(
    rows.map(({ monitorId, revision, configuration: one }) => ({ monitorId, revision, ...one })),
  );
  t.ok(messages.every((message) => message.length <= 500));
  t.ok(messages.every((message) => message.reduce((sum, one) => sum + one.settingsJson.length, 0) <= 1_048_576));
  t.equal(messages.flat().length, 1_200);
  const steps = toSteps([...rows, { monitorId: 1, revision: 1_201n, isWanted: false, configuration: undefined }]);
  t.ok(steps.length > 2);
  t.ok(steps.every((step) => step.changed.reduce((sum, one) => sum + one.settingsJson.length, 0) <= 1_048_576));
  for (const step of steps) {
    const highest = [...step.changed, ...step.removed].reduce(
      (most, one) => (one.revision > most ? one.revision : most),
      0n,
    );
    t.equal(step.revision, highest);
  }
  t.equal(steps.at(-1)?.revision, 1_201n);
  t.same(
    steps.flatMap((step) => step.removed),
    [{ monitorId: 1, revision: 1_201n }],
  );
  t.equal(steps.flatMap((step) => step.changed).length, 1_199, 'of two rows of one monitor the newest counts');
});
