import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { isMassLoss } from './mass-loss.ts';
import type { SeatChange } from './seats/queries.ts';
import { planSupplements, swapAfterMs } from './supplements.ts';
import type { SupplementedMonitor, SupplementingProbe } from './supplements.ts';

const hourMs = 3_600_000;
const nowMs = 1_700_000_000_000;

function probe(id: number, region: string, more: Partial<SupplementingProbe> = {}): SupplementingProbe {
  return {
    id,
    region,
    workspaceId: null,
    capabilities: [],
    isLost: (more.lostSinceMs ?? null) !== null,
    isPaused: false,
    hasConnected: true,
    load: 0,
    lostSinceMs: null,
    ...more,
  };
}
const lost = (id: number, region: string, forMs = 60_000): SupplementingProbe =>
  probe(id, region, { lostSinceMs: nowMs - forMs });

const seat = (probeId: number, region: string, hasVotedAgain = false) => ({ probeId, region, hasVotedAgain });

function monitor(more: Partial<SupplementedMonitor> = {}): SupplementedMonitor {
  return {
    id: 5,
    workspaceId: 1,
    protocol: 'http',
    url: 'https://example.com/',
    settings: {},
    wantedProbeIds: null,
    wantedRegions: null,
    isActive: true,
    seats: [seat(1, 'eu'), seat(2, 'us'), seat(3, 'asia')],
    supplements: [],
    ...more,
  };
}

/** "open 4>1, close 3": what a plan changes, whatever the monitor. */
function told(changes: readonly SeatChange[]): string {
  return changes
    .map(({ operation, probeId, standsInFor }) =>
      standsInFor === undefined ? `${operation} ${probeId}` : `${operation} ${probeId}>${standsInFor}`,
    )
    .join(', ');
}
const plan = (
  one: Partial<SupplementedMonitor>,
  others: readonly SupplementingProbe[],
  first: SupplementingProbe = lost(1, 'eu'),
): string => told(planSupplements([monitor(one)], [first, probe(2, 'us'), probe(3, 'asia'), ...others], nowMs));

t.test('the region of the lost seat is preferred, then one where nobody is, then the least load', async (t) => {
  t.equal(plan({}, [probe(4, 'africa'), probe(5, 'eu', { load: 9 })]), 'open 5>1');
  t.equal(plan({}, [probe(4, 'us'), probe(5, 'africa', { load: 9 })]), 'open 5>1');
  t.equal(plan({}, [probe(4, 'us', { load: 2 }), probe(5, 'asia', { load: 1 })]), 'open 5>1');
  t.equal(plan({}, [probe(5, 'us'), probe(4, 'us')]), 'open 4>1');
});

t.test('only who may and can stand in', async (t) => {
  t.equal(plan({}, [probe(4, 'eu', { workspaceId: 2 })]), '', 'not a private probe of others');
  t.equal(plan({}, [probe(4, 'eu', { workspaceId: 1 })]), 'open 4>1', 'a private one of its own');
  t.equal(plan({}, [probe(4, 'eu', { isPaused: true })]), '');
  t.equal(plan({ settings: { ip_version: 6 } }, [probe(4, 'eu')]), '', 'not one that is unable');
  t.equal(
    plan({ wantedRegions: ['eu', 'us', 'asia'] }, [probe(4, 'africa')]),
    '',
    'not in a region that is not wanted',
  );
  t.equal(plan({ wantedRegions: ['eu', 'us', 'asia'] }, [probe(4, 'us')]), 'open 4>1');
  t.equal(plan({ wantedProbeIds: [1, 2, 3] }, [probe(4, 'eu')]), '', 'nobody for a probe that was named');
  t.equal(plan({ isActive: false }, [probe(4, 'eu')]), '', 'nobody at a paused monitor');
  t.equal(plan({ seats: [] }, [probe(4, 'eu')]), '', 'nobody at a central one');
  t.equal(
    plan({}, [probe(4, 'eu')], probe(1, 'eu', { lostSinceMs: nowMs - 1, isPaused: true })),
    '',
    'nor for a paused one',
  );
});

t.test('a supplement goes when its probe or its seat is not what it was', async (t) => {
  const supplements = [{ probeId: 4, region: 'eu', standsInFor: 1 }];
  const back = [seat(1, 'eu', true), seat(2, 'us'), seat(3, 'asia')];
  t.equal(plan({ supplements }, [probe(4, 'eu')]), '', 'it stays');
  t.equal(plan({ supplements }, [probe(4, 'eu')], probe(1, 'eu')), '', 'also when the probe is back');
  t.equal(plan({ supplements, seats: back }, [probe(4, 'eu')], probe(1, 'eu')), 'close 4', 'until it has voted');
  t.equal(plan({ supplements, seats: back }, [probe(4, 'eu')]), '', 'not while it is lost, whatever it voted');
  t.equal(plan({ supplements }, [lost(4, 'eu'), probe(5, 'eu'), probe(6, 'eu')]), 'close 4, open 5>1', 'lost itself');
  t.equal(plan({ supplements }, [probe(4, 'africa')]), 'close 4, open 4>1', 'moved: its votes count where it is');
  t.equal(plan({ supplements }, []), 'close 4', 'revoked');
  t.equal(
    told(planSupplements([monitor({ supplements })], [probe(2, 'us'), probe(3, 'asia'), probe(4, 'eu')], nowMs)),
    '',
    'it waits for the seat of a revoked probe to be given away',
  );
  t.equal(plan({ supplements, seats: [seat(2, 'us')] }, [probe(4, 'eu')]), 'close 4', 'its seat was given up');
  t.equal(plan({ supplements, isActive: false }, [probe(4, 'eu')]), 'close 4');
  t.equal(plan({ supplements, wantedProbeIds: [1] }, [probe(4, 'eu')]), 'close 4');
});

t.test('after a day the supplement takes the seat', async (t) => {
  const supplements = [{ probeId: 4, region: 'eu', standsInFor: 1 }];
  const changes = planSupplements(
    [monitor({ supplements })],
    [lost(1, 'eu', swapAfterMs), probe(2, 'us'), probe(3, 'asia'), probe(4, 'eu')],
    nowMs,
  );
  t.same(changes, [
    { operation: 'close', monitorId: 5, probeId: 1 },
    { operation: 'close', monitorId: 5, probeId: 4 },
    { operation: 'open', monitorId: 5, probeId: 4, region: 'eu' },
  ]);
  t.equal(plan({ supplements }, [probe(4, 'eu')], lost(1, 'eu', swapAfterMs - 1)), '');
  t.equal(
    plan({ supplements }, [probe(5, 'eu'), lost(4, 'eu')], lost(1, 'eu', swapAfterMs)),
    'close 1, close 4, open 5',
    'one that is lost too passes it on',
  );
});

t.test('what is planned together is shared by load', async (t) => {
  const monitors = Array.from({ length: 100 }, (_, index) => monitor({ id: index + 1 }));
  const probes = [lost(1, 'eu'), probe(2, 'us'), probe(3, 'asia'), probe(4, 'eu'), probe(5, 'eu', { load: 20 })];
  const counts = new Map<number, number>();
  for (const { probeId } of planSupplements(monitors, probes, nowMs)) {
    counts.set(probeId, (counts.get(probeId) ?? 0) + 1);
  }
  t.same(
    [...counts].sort(([a], [b]) => a - b),
    [
      [4, 60],
      [5, 40],
    ],
  );
});

t.test('a mass loss is more than half of the probes within five minutes', async (t) => {
  const at = (...lostForMin: (number | null)[]) =>
    isMassLoss(
      lostForMin.map((minutes) => ({
        isPaused: false,
        hasConnected: true,
        lostSinceMs: minutes === null ? null : nowMs - minutes * 60_000,
      })),
      nowMs,
    );
  t.notOk(at());
  t.notOk(at(1), 'the only one');
  t.notOk(at(1, null));
  t.ok(at(1, 2));
  t.notOk(at(1, 2, null, null), 'half');
  t.ok(at(1, 5, 6, null, null));
  t.notOk(at(1, 5, 7, null, null), 'one after the other');
  t.ok(at(1, 2, null, 1_441), 'who left days ago is not counted');
  t.notOk(at(1_441, 1_442, null));
  const paused = { isPaused: true, lostSinceMs: null };
  t.ok(isMassLoss([lost(1, 'eu'), lost(2, 'eu'), probe(3, 'eu'), paused, paused], nowMs), 'nor who is paused');
});

t.test('in a mass loss one supplement at most, and only where nobody is left', async (t) => {
  const probes = [...[1, 2, 3, 6, 7, 8].map((id) => lost(id, 'eu')), ...[4, 5].map((id) => probe(id, 'here'))];
  const planned = (one: Partial<SupplementedMonitor>) => told(planSupplements([monitor(one)], probes, nowMs));
  t.equal(planned({}), 'open 4>1');
  t.equal(planned({ supplements: [{ probeId: 4, region: 'here', standsInFor: 1 }] }), '', 'and no second');
  t.equal(planned({ seats: [seat(1, 'eu'), seat(2, 'eu'), seat(5, 'here')] }), '', 'none where one is healthy');
  t.equal(
    told(
      planSupplements(
        [monitor()],
        probes.map((one) => (one.isLost ? { ...one, lostSinceMs: nowMs - one.id * hourMs } : one)),
        nowMs,
      ),
    ),
    'open 4>1, open 5>2',
    'as many as there are when they were lost one after the other',
  );
});

// A small world of its own: the rows of assignments with the uniqueness that the database has.
const regions = ['eu', 'us', 'asia'];
const probeIds = [1, 2, 3, 4, 5, 6];
type Step =
  | { readonly kind: 'lose' | 'return' | 'pause' | 'enable' | 'revoke' | 'vote'; readonly probeId: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'switch'; readonly monitorId: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('lose', 'lose', 'lose', 'return', 'return', 'pause', 'enable', 'vote', 'revoke'),
    probeId: fc.constantFrom(...probeIds),
  }),
  fc.record({ kind: fc.constant('wait'), ms: fc.constantFrom(60_000, 13 * hourMs, 25 * hourMs) }),
  fc.record({ kind: fc.constant('switch'), monitorId: fc.constantFrom(1, 2) }),
);

class World {
  nowMs = nowMs;
  probes: SupplementingProbe[];
  readonly monitors: SupplementedMonitor[];
  readonly voted = new Set<number>();

  constructor(isPrivate: boolean) {
    this.probes = probeIds.map((id) =>
      probe(id, regions[id % 3] ?? '', {
        workspaceId: isPrivate && id === 6 ? 9 : null,
        capabilities: id === 5 ? [] : ['ipv6'],
      }),
    );
    this.monitors = [
      monitor({ id: 1, seats: [seat(1, 'us'), seat(2, 'asia'), seat(3, 'eu')], settings: { ip_version: 6 } }),
      monitor({ id: 2, seats: [seat(2, 'asia'), seat(4, 'us')], wantedRegions: ['asia', 'us'] }),
    ];
  }

  take(one: Step): void {
    if (one.kind === 'wait') this.nowMs += one.ms;
    else if (one.kind === 'switch') this.#change(one.monitorId, (it) => ({ ...it, isActive: !it.isActive }));
    else if (one.kind === 'vote') this.voted.add(one.probeId);
    else if (one.kind === 'revoke') {
      // Its seats are the rebalancing's to give; a revoked probe without seats is what concerns the planner.
      if (this.monitors.some((it) => it.seats.some(({ probeId }) => probeId === one.probeId))) return;
      this.probes = this.probes.filter(({ id }) => id !== one.probeId);
    } else {
      this.probes = this.probes.map((it) => (it.id === one.probeId ? this.#changed(it, one.kind) : it));
    }
  }

  plan(): SeatChange[] {
    return planSupplements(
      this.monitors.map((it) => ({
        ...it,
        seats: it.seats.map((held) => ({ ...held, hasVotedAgain: this.voted.has(held.probeId) })),
      })),
      this.probes,
      this.nowMs,
    );
  }

  write(changes: readonly SeatChange[]): void {
    for (const change of changes) this.#change(change.monitorId, (it) => written(it, change));
  }

  #change(monitorId: number, how: (it: SupplementedMonitor) => SupplementedMonitor): void {
    const index = this.monitors.findIndex(({ id }) => id === monitorId);
    const it = this.monitors[index];
    if (it !== undefined) this.monitors[index] = how(it);
  }

  #changed(it: SupplementingProbe, kind: Step['kind']): SupplementingProbe {
    if (kind === 'pause' || kind === 'enable') return { ...it, isPaused: kind === 'pause' };
    if ((kind === 'lose') === it.isLost) return it;
    this.voted.delete(it.id);
    return { ...it, isLost: kind === 'lose', lostSinceMs: kind === 'lose' ? this.nowMs : null };
  }
}

/** @throws when a row is closed that is not open, or opened twice, as the database would */
function written(it: SupplementedMonitor, change: SeatChange): SupplementedMonitor {
  const { probeId, region = '', standsInFor } = change;
  const isHere = [...it.seats, ...it.supplements].some((row) => row.probeId === probeId);
  if (isHere !== (change.operation === 'close')) throw new Error(`${change.operation} ${probeId} twice`);
  if (change.operation === 'close') {
    return {
      ...it,
      seats: it.seats.filter((row) => row.probeId !== probeId),
      supplements: it.supplements.filter((row) => row.probeId !== probeId),
    };
  }
  if (standsInFor === undefined) return { ...it, seats: [...it.seats, seat(probeId, region)] };
  return { ...it, supplements: [...it.supplements, { probeId, region, standsInFor }] };
}

function wrongWith(world: World, before: readonly number[]): string | undefined {
  for (const [index, it] of world.monitors.entries()) {
    if (it.seats.length !== before[index]) return `N of ${it.id} became ${it.seats.length}`;
    const filled = it.supplements.map(({ standsInFor }) => standsInFor);
    if (new Set(filled).size !== filled.length) return 'two supplements for a seat';
    for (const { probeId, region, standsInFor } of it.supplements) {
      const own = world.probes.find(({ id }) => id === probeId);
      if (own === undefined || own.isLost || own.isPaused) return `supplement ${probeId} is not well`;
      if (own.workspaceId !== null && own.workspaceId !== it.workspaceId) return `supplement ${probeId} is foreign`;
      if (it.id === 1 && !own.capabilities.includes('ipv6')) return `supplement ${probeId} is unable`;
      if (own.region !== region || !(it.wantedRegions?.includes(region) ?? true)) return `${region} is not wanted`;
      if (!it.isActive) return 'a supplement at a paused monitor';
      if (!it.seats.some((held) => held.probeId === standsInFor)) return 'a supplement of no seat';
    }
  }
  if (world.plan().length > 0) return `a second plan changes something: ${told(world.plan())}`;
  return undefined;
}

t.test(
  'under any sequence of loss and return N stays, supplements are well, and a plan leaves nothing to plan',
  async (t) => {
    let swaps = 0;
    let opened = 0;
    fc.assert(
      fc.property(fc.boolean(), fc.array(step, { maxLength: 40, size: 'max' }), (isPrivate, steps) => {
        const world = new World(isPrivate);
        for (const one of steps) {
          world.take(one);
          const before = world.monitors.map((it) => it.seats.length);
          const changes = world.plan();
          swaps += changes.filter((it) => it.operation === 'open' && it.standsInFor === undefined).length;
          opened += changes.filter((it) => it.standsInFor !== undefined).length;
          world.write(changes);
          const wrong = wrongWith(world, before);
          if (wrong !== undefined) throw new Error(wrong);
        }
      }),
      { numRuns: 500 },
    );
    t.comment(`${opened} opened, ${swaps} swapped`);
    t.ok(swaps > 0, 'seats were swapped');
    t.ok(opened > 0, 'supplements were opened');
  },
);
