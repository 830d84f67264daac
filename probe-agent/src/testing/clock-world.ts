import { AnchorKeeper } from '../results/anchor-keeper.ts';
import { Placement } from '../results/placement.ts';
import { burst, ServerClock } from '../runner/clock.ts';

/** A stretch of a probe's life, one after another. Times in seconds, one-way delays up to these in milliseconds. */
export type Phase =
  | { readonly kind: 'connected'; readonly seconds: number; readonly thereMs: number; readonly backMs: number }
  | { readonly kind: 'cut' | 'asleep'; readonly seconds: number };

export type WorldOptions = {
  readonly seed: number;
  /** How much faster the monotonic clock runs than true time: 0.01 is 1 %. */
  readonly drift: number;
  /** Reading the monotonic clock is off by up to this. */
  readonly noiseUs: number;
  readonly phases: readonly Phase[];
  /** Jumps of the wall clock: when, and by how much. */
  readonly wallJumps: readonly { readonly atSeconds: number; readonly ms: number }[];
  readonly intervalSeconds: number;
  /** Whether the system tells how long it slept. */
  readonly tellsSleep: boolean;
};

/** One check as it happened and as the agent dates it. Microseconds; `errorUs` is what the agent itself takes its date to be off by. */
export type DatedCheck = {
  readonly trueUs: number;
  readonly effectiveUs: number;
  readonly errorUs: number;
  readonly isStamped: boolean;
};

const epochUs = 1_800_000_000_000_000;
const syncEverySeconds = 4;
/** More often than a drift of 1 % amounts to a jump. */
const lookEveryUs = 45_000_000;

/** Lives through the phases with the real clock, anchors and placement of the agent, and dates every check as soon as the agent would. */
export function liveThrough(options: WorldOptions): {
  readonly dated: readonly DatedCheck[];
  readonly waiting: number;
} {
  const random = generator(options.seed);
  let nowUs = 0;
  let sleptUs = 0;
  let lastMonotonicUs = 0;
  const monotonicUs = (): number => {
    const readUs = Math.round((nowUs - sleptUs) * (1 + options.drift) + random() * options.noiseUs);
    lastMonotonicUs = Math.max(lastMonotonicUs, readUs);
    return lastMonotonicUs;
  };
  const wallMs = (): number =>
    (epochUs + nowUs) / 1_000 +
    options.wallJumps.reduce((sum, { atSeconds, ms }) => sum + (nowUs >= atSeconds * 1_000_000 ? ms : 0), 0);
  const placement = new Placement();
  const keeper = new AnchorKeeper(placement);
  const dated: DatedCheck[] = [];
  let waiting: { trueUs: number; monotonicUs: number }[] = [];
  const clock = new ServerClock({
    monotonicUs,
    wallMs,
    sleptMs: () => (options.tellsSleep ? sleptUs / 1_000 : undefined),
    onAnchor: (anchor) => {
      keeper.add(anchor);
      waiting = waiting.filter((check) => !isPlaced(check));
    },
  });

  const { events, sleeps } = plan(options, random);
  for (const event of events) {
    nowUs = event.atUs;
    sleptUs = sleeps.reduce((sum, sleep) => sum + Math.min(Math.max(0, nowUs - sleep.fromUs), sleep.us), 0);
    event.happen({ clock, monotonicUs, trueUs: () => epochUs + nowUs, recorded });
  }
  return { dated: dated.toSorted((a, b) => a.trueUs - b.trueUs), waiting: waiting.length };

  function isPlaced(check: { readonly trueUs: number; readonly monotonicUs: number }): boolean {
    const placed = placement.settled(check.monotonicUs) ? placement.place(check.monotonicUs) : undefined;
    if (placed === undefined) return false;
    dated.push({ trueUs: check.trueUs, effectiveUs: placed.serverUs, errorUs: placed.errorUs, isStamped: false });
    return true;
  }

  function recorded(trueUs: number, startUs: number): void {
    clock.checkForJump();
    const effectiveUs = clock.effectiveUs(startUs);
    if (effectiveUs === 0) {
      const check = { trueUs, monotonicUs: startUs };
      if (!isPlaced(check)) waiting.push(check);
    } else dated.push({ trueUs, effectiveUs, errorUs: 0, isStamped: true });
  }
}

type Machine = {
  readonly clock: ServerClock;
  readonly monotonicUs: () => number;
  readonly trueUs: () => number;
  readonly recorded: (trueUs: number, startUs: number) => void;
};
type Event = { readonly atUs: number; readonly happen: (machine: Machine) => void };

/** Everything that will happen, in order: exchanges of the clock while connected, checks while awake. */
function plan(options: WorldOptions, random: () => number) {
  const events: Event[] = [];
  const sleeps: { fromUs: number; us: number }[] = [];
  let fromUs = 0;
  for (const phase of options.phases) {
    const us = phase.seconds * 1_000_000;
    if (phase.kind === 'asleep') sleeps.push({ fromUs, us });
    if (phase.kind === 'connected') events.push(...exchanges(phase, fromUs, random));
    fromUs += us;
  }
  const isAsleep = (atUs: number): boolean =>
    sleeps.some((sleep) => atUs >= sleep.fromUs && atUs < sleep.fromUs + sleep.us);
  for (let atUs = 0; atUs < fromUs; atUs += lookEveryUs)
    if (!isAsleep(atUs)) events.push({ atUs, happen: ({ clock }) => void clock.checkForJump() });
  const intervalUs = options.intervalSeconds * 1_000_000;
  for (let atUs = random() * intervalUs; atUs < fromUs; atUs += intervalUs) {
    if (!isAsleep(atUs)) events.push(...oneCheck(atUs, random() * Math.min(5_000_000, intervalUs)));
  }
  return { events: events.toSorted((a, b) => a.atUs - b.atUs), sleeps };
}

function exchanges(phase: Phase & { kind: 'connected' }, fromUs: number, random: () => number): Event[] {
  const seconds = Array.from({ length: burst.samples }, (_, number) => (number * burst.everyMs) / 1_000);
  for (let second = syncEverySeconds; second < phase.seconds; second += syncEverySeconds) seconds.push(second);
  return seconds.flatMap((second) => {
    const sentAtUs = fromUs + second * 1_000_000;
    const answeredAtUs = sentAtUs + random() * phase.thereMs * 1_000;
    const receivedAtUs = answeredAtUs + random() * phase.backMs * 1_000;
    // What is under way when the connection is cut never arrives.
    if (receivedAtUs > fromUs + phase.seconds * 1_000_000) return [];
    let sentUs = 0;
    let serverUs = 0;
    return [
      { atUs: sentAtUs, happen: (machine: Machine) => void (sentUs = machine.monotonicUs()) },
      { atUs: answeredAtUs, happen: (machine: Machine) => void (serverUs = Math.round(machine.trueUs())) },
      {
        atUs: receivedAtUs,
        happen: ({ clock, monotonicUs }: Machine) => clock.synchronise({ sentUs, receivedUs: monotonicUs(), serverUs }),
      },
    ];
  });
}

function oneCheck(atUs: number, lastsUs: number): Event[] {
  let startUs = 0;
  let trueUs = 0;
  return [
    {
      atUs,
      happen: (machine) => {
        machine.clock.checkForJump();
        startUs = machine.monotonicUs();
        trueUs = machine.trueUs();
      },
    },
    { atUs: atUs + lastsUs, happen: (machine) => machine.recorded(trueUs, startUs) },
  ];
}

/** Numbers in [0, 1) that a seed determines (mulberry32). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
