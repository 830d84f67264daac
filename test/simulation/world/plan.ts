import type { Policy } from '../../../control-plane/src/monitoring/consensus/index.ts';
import type { Fate } from '../models/database/database.ts';
import type { Random } from '../engine/random.ts';
import { createRandom } from '../engine/random.ts';

const second = 1_000_000;

/** What a target does with a check. */
export type TargetState = 'up' | 'fail' | 'timeout' | 'slow' | 'warn';

/** Something that is done to the world. What lasts ends by itself, at the latest when the world heals. */
export type Event = { readonly atUs: number; readonly lastsUs: number } & Deed;

/** What is done. Replicas are counted from 0, everything else has its number. */
export type Deed =
  | {
      readonly kind: 'target';
      readonly monitorId: number;
      readonly regions: readonly string[];
      readonly state: TargetState;
    }
  | { readonly kind: 'flapping'; readonly monitorId: number; readonly everyUs: number }
  | { readonly kind: 'agent_killed' | 'agent_restarted' | 'power_lost' | 'asleep'; readonly probeId: number }
  | { readonly kind: 'wall_set'; readonly probeId: number; readonly byUs: number }
  | { readonly kind: 'clock_drifts'; readonly probeId: number; readonly rate: number }
  | {
      readonly kind: 'uplink_lost' | 'session_cut' | 'broker_cut' | 'disk_full' | 'disk_stalls' | 'disk_broken';
      readonly probeId: number;
    }
  | { readonly kind: 'broker_killed'; readonly isLossy: boolean; readonly store: 'kept' | 'rolled_back' | 'wiped' }
  | { readonly kind: 'broker_frozen' }
  | {
      readonly kind:
        | 'replica_killed'
        | 'replica_restarted'
        | 'replica_frozen'
        | 'replica_without_database'
        | 'replica_without_broker';
      readonly replica: number;
    }
  | { readonly kind: 'lock_lost'; readonly shard: number }
  | { readonly kind: 'database_frozen' | 'database_killed' }
  | { readonly kind: 'commits_fail'; readonly share: number; readonly fates: readonly Fate[] }
  | { readonly kind: 'paused' | 'retargeted' | 'reset' | 'deleted'; readonly monitorId: number }
  | {
      readonly kind: 'rules_changed';
      readonly monitorId: number;
      readonly confirmations: number;
      readonly policy: Policy;
    }
  | { readonly kind: 'interval_changed'; readonly monitorId: number; readonly intervalS: number }
  | { readonly kind: 'seat_closed'; readonly monitorId: number; readonly seat: number }
  | { readonly kind: 'seated'; readonly monitorId: number; readonly probeId: number; readonly supplement: boolean }
  | { readonly kind: 'quarantined'; readonly probeId: number }
  | { readonly kind: 'created'; readonly monitor: MonitorPlan }
  | { readonly kind: 'asked'; readonly monitorId: number; readonly probeId: number };

/** A machine with an agent. `rate` is how fast its clock runs; `tellsSleep`: its system says how long it slept. */
export type ProbePlan = {
  readonly id: number;
  readonly region: string;
  readonly rate: number;
  readonly wallOffsetUs: number;
  readonly tellsSleep: boolean;
  readonly hasCanary: boolean;
};

/** A monitor as it is made. Without probes it is the control plane's own. */
export type MonitorPlan = {
  readonly id: number;
  readonly shard: number;
  readonly intervalS: number;
  readonly timeoutS: number;
  readonly confirmations: number;
  readonly policy: Policy;
  readonly probeIds: readonly number[];
};

/** A world as a seed determines it: who is there, and what happens to them. */
export type Plan = {
  readonly seed: number;
  readonly shards: number;
  readonly probes: readonly ProbePlan[];
  readonly monitors: readonly MonitorPlan[];
  /** Events happen until then; afterwards everything heals. */
  readonly troubleUs: number;
  readonly events: readonly Event[];
  /** Share of checks that fail for one probe alone, for no lasting reason. */
  readonly blips: number;
  /** A probe that does not say what it sees. */
  readonly liar: { readonly probeId: number; readonly says: 'fail' | 'ok' | 'anything' } | undefined;
  /** Whether the control plane also checks by itself what has no probe, or too few votes. */
  readonly hasCentral: boolean;
  /** How often processes look into the database for what a hint did not tell them. */
  readonly pollMs: number;
};

const regions = ['eu', 'us', 'ap'];
const policies: readonly Policy[] = ['majority', 'majority', 'majority', 'any', 'all', 2];

/** The world of a seed. */
export function planOf(seed: number): Plan {
  const random = createRandom(seed, 'plan');
  const isLong = random.chance(0.04);
  const troubleUs = (isLong ? random.between(300, 700) : random.between(40, 150)) * second;
  const probes = Array.from({ length: random.pick([1, 2, 3, 3, 3, 4]) }, (_, index) => probePlan(index + 1, random));
  const shards = random.chance(0.2) ? 2 : 1;
  const monitors = Array.from({ length: random.pick([1, 1, 2, 2, 3]) }, (_, index) =>
    monitorPlan(index + 1, probes, shards, random),
  );
  const count = random.between(2, isLong ? 24 : 10);
  const events = Array.from({ length: count }, () => eventOf({ probes, monitors, shards, troubleUs }, random))
    .flat()
    .sort((a, b) => a.atUs - b.atUs);
  return {
    seed,
    shards,
    probes,
    monitors,
    troubleUs,
    events,
    blips: random.pick([0, 0, 0.01, 0.05]),
    liar: random.chance(0.2)
      ? { probeId: random.between(1, probes.length), says: random.pick(['fail', 'ok', 'anything'] as const) }
      : undefined,
    hasCentral: random.chance(0.6),
    pollMs: random.pick([500, 2_000, 3_000]),
  };
}

function probePlan(id: number, random: Random): ProbePlan {
  return {
    id,
    region: regions[(id - 1) % regions.length] ?? 'eu',
    rate: random.chance(0.3) ? 1 + random.between(-10_000, 10_000) / 1e6 : 1 + random.between(-80, 80) / 1e6,
    wallOffsetUs: random.chance(0.5) ? random.between(-90 * second, 90 * second) : random.between(-50_000, 50_000),
    tellsSleep: random.chance(0.7),
    hasCanary: random.chance(0.5),
  };
}

function monitorPlan(id: number, probes: readonly ProbePlan[], shards: number, random: Random): MonitorPlan {
  const seats = probes.filter((_, index) => index < 2 || random.chance(0.8));
  return {
    id,
    shard: random.between(0, shards - 1),
    intervalS: random.pick([5, 5, 10, 10, 15, 20, 30]),
    timeoutS: random.between(1, 5),
    confirmations: random.pick([1, 2, 2, 2, 3]),
    policy: random.pick(policies),
    probeIds: random.chance(0.1) ? [] : seats.map((probe) => probe.id),
  };
}

type Cast = {
  readonly probes: readonly ProbePlan[];
  readonly monitors: readonly MonitorPlan[];
  readonly shards: number;
  readonly troubleUs: number;
};

/** How often which kind of event is made, relative to the others. */
const weights: readonly (readonly [number, (cast: Cast, random: Random) => Deed | readonly Deed[]])[] = [
  [10, targetEvent],
  [
    2,
    (cast, random) => ({
      kind: 'flapping',
      monitorId: monitorOf(cast, random),
      everyUs: random.between(3, 20) * second,
    }),
  ],
  [4, (cast, random) => ({ kind: 'agent_killed', probeId: probeOf(cast, random) })],
  [2, (cast, random) => ({ kind: 'agent_restarted', probeId: probeOf(cast, random) })],
  [4, (cast, random) => ({ kind: 'power_lost', probeId: probeOf(cast, random) })],
  [3, (cast, random) => ({ kind: 'asleep', probeId: probeOf(cast, random) })],
  [3, (cast, random) => ({ kind: 'wall_set', probeId: probeOf(cast, random), byUs: random.between(-90, 90) * second })],
  [
    2,
    (cast, random) => ({
      kind: 'clock_drifts',
      probeId: probeOf(cast, random),
      rate: 1 + random.between(-10_000, 10_000) / 1e6,
    }),
  ],
  [4, (cast, random) => ({ kind: 'uplink_lost', probeId: probeOf(cast, random) })],
  [3, (cast, random) => ({ kind: 'session_cut', probeId: probeOf(cast, random) })],
  [4, (cast, random) => ({ kind: 'broker_cut', probeId: probeOf(cast, random) })],
  [1, (cast, random) => ({ kind: 'disk_full', probeId: probeOf(cast, random) })],
  [1, (cast, random) => ({ kind: 'disk_stalls', probeId: probeOf(cast, random) })],
  [1, (cast, random) => ({ kind: 'disk_broken', probeId: probeOf(cast, random) })],
  [
    6,
    (_, random) => ({
      kind: 'broker_killed',
      isLossy: random.chance(0.6),
      store: random.pick(['kept', 'kept', 'kept', 'rolled_back', 'wiped'] as const),
    }),
  ],
  [2, () => ({ kind: 'broker_frozen' })],
  [6, (_, random) => ({ kind: 'replica_killed', replica: random.between(0, 1) })],
  [2, (_, random) => ({ kind: 'replica_restarted', replica: random.between(0, 1) })],
  [4, (_, random) => ({ kind: 'replica_frozen', replica: random.between(0, 1) })],
  [3, (_, random) => ({ kind: 'replica_without_database', replica: random.between(0, 1) })],
  [2, (_, random) => ({ kind: 'replica_without_broker', replica: random.between(0, 1) })],
  [3, (cast, random) => ({ kind: 'lock_lost', shard: random.between(0, cast.shards - 1) })],
  [3, () => ({ kind: 'database_frozen' })],
  [2, () => ({ kind: 'database_killed' })],
  [
    4,
    (_, random) => ({
      kind: 'commits_fail',
      share: random.pick([0.2, 0.5, 1]),
      fates: random.pick<readonly Fate[]>([
        ['commits_unheard'],
        ['is_lost'],
        ['fails'],
        ['commits_unheard', 'is_lost', 'fails'],
      ]),
    }),
  ],
  [4, (cast, random) => ({ kind: 'paused', monitorId: monitorOf(cast, random) })],
  [3, (cast, random) => ({ kind: 'retargeted', monitorId: monitorOf(cast, random) })],
  [
    3,
    (cast, random) => ({
      kind: 'rules_changed',
      monitorId: monitorOf(cast, random),
      confirmations: random.between(1, 3),
      policy: random.pick(policies),
    }),
  ],
  [
    2,
    (cast, random) => ({
      kind: 'interval_changed',
      monitorId: monitorOf(cast, random),
      intervalS: random.pick([5, 10, 20, 60]),
    }),
  ],
  [2, (cast, random) => ({ kind: 'reset', monitorId: monitorOf(cast, random) })],
  [1, (cast, random) => ({ kind: 'deleted', monitorId: monitorOf(cast, random) })],
  [3, (cast, random) => ({ kind: 'seat_closed', monitorId: monitorOf(cast, random), seat: random.between(0, 3) })],
  [
    5,
    (cast, random) => ({
      kind: 'seated',
      monitorId: monitorOf(cast, random),
      probeId: probeOf(cast, random),
      supplement: random.chance(0.6),
    }),
  ],
  [3, (cast, random) => ({ kind: 'quarantined', probeId: probeOf(cast, random) })],
  [
    1,
    (cast, random) => ({
      kind: 'created',
      monitor: monitorPlan(random.between(11, 40), cast.probes, cast.shards, random),
    }),
  ],
  [2, (cast, random) => ({ kind: 'asked', monitorId: monitorOf(cast, random), probeId: probeOf(cast, random) })],
];
const allWeights = weights.reduce((sum, [weight]) => sum + weight, 0);

function eventOf(cast: Cast, random: Random): Event[] {
  let left = random.unit() * allWeights;
  const chosen = weights.find(([weight]) => {
    left -= weight;
    return left < 0;
  });
  const deeds: Deed[] = [chosen?.[1](cast, random) ?? []].flat();
  const atUs = random.between(3 * second, cast.troubleUs);
  const lastsUs = random.chance(0.15) ? random.between(30, 90) * second : random.between(1, 25) * second;
  return deeds.map((deed) => ({ atUs: atUs + random.between(0, 2 * second), lastsUs, ...deed }));
}

const probeOf = (cast: Cast, random: Random): number => random.between(1, cast.probes.length);
const monitorOf = (cast: Cast, random: Random): number => random.between(1, cast.monitors.length);

/** An outage for all, or for some regions. */
function targetEvent(cast: Cast, random: Random): Deed {
  const state = random.pick<TargetState>(['fail', 'fail', 'fail', 'timeout', 'timeout', 'slow', 'warn']);
  const isEverywhere = random.chance(0.7);
  return {
    kind: 'target',
    monitorId: monitorOf(cast, random),
    regions: isEverywhere ? [...regions, 'central'] : regions.filter(() => random.chance(0.5)),
    state,
  };
}
