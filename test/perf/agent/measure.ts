import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ResultRecord } from '@parallax/wire';
import { processorTimeUs } from '../processor-time.ts';
import type { Blackbox, Driven } from './blackbox.ts';
import { latenessMs } from './lateness.ts';
import { addressCount } from './target.ts';
import type { Target } from './target.ts';
import type { World } from './world.ts';

/** How long and how much. Times in milliseconds unless their name says otherwise. */
export type Plan = {
  /** Monitors of one second, at most. */
  readonly monitors: number;
  readonly rounds: number;
  /** What is not counted after each change of the load. */
  readonly settleMs: number;
  readonly agentMs: number;
  /** Checks a second that the search for what the agent can do begins with, and how long each is tried. */
  readonly firstTry: number;
  readonly tryMs: number;
  readonly floorMs: number;
  readonly blackboxMs: number;
  readonly serveMs: number;
  readonly lateMonitors: number;
  readonly lateIntervalS: number;
  readonly lateMs: number;
  /** Results in each round of publishing: not more than the log keeps in memory. */
  readonly published: number;
  readonly publishWarmUps: number;
  readonly publishRounds: number;
};

/** Processor time per check, checks a second, and results a batch (0 where there are none). */
export type Sample = { readonly us: number; readonly perSecond: number; readonly fill: number };

export type Lateness = Sample & { readonly lateMs: readonly number[]; readonly coreShare: number };

/** What the bench has counted, to be held against what the target has counted. */
export type Books = { checks: number; skipped: number; failed: number; others: number };

/** Checks at the same time of the floor: enough to keep it busy. */
const floorWidth = 256;
/** Checks under way at 2,000 a second that are no queue, and how long one is waited for. */
const quietInFlight = 50;
const longestQueueMs = 20_000;
/** The longest that a result may be under way to the ingest's stand-in, with a loaded machine in mind. */
const onTheWayMs = 1_500;
const run = promisify(execFile);

/** Counts a result of the agent. */
export function enter(books: Books, result: ResultRecord): void {
  if (result.outcome === 'skipped') books.skipped += 1;
  else {
    books.checks += 1;
    if (result.outcome !== 'ok') books.failed += 1;
  }
}

/** Fails unless the target has answered exactly the checks of which there are results, and those of the others, and all were good. */
export async function assertBooks(books: Books, target: Target): Promise<void> {
  const until = performance.now() + 10_000;
  for (;;) {
    const counted = (await target.count()) - books.others;
    if (counted === books.checks && books.failed === 0) return;
    if (performance.now() > until)
      throw new Error(
        `the books do not agree: the target answered ${counted} checks of the agent, there are results of ${books.checks}, of which ${books.failed} are not ok`,
      );
    // A monitor at rest has a slot a day, and this may have been it.
    await sleep(200);
  }
}

/** How late checks start at the load that the agent was started with, which it is given some time to settle into. */
export async function measureLateness(plan: Plan, world: World): Promise<Lateness> {
  const intervalMs = plan.lateIntervalS * 1_000;
  // The first checks of a start are spread over the interval; the second ones are on their slots after half of another.
  await sleep(2 * intervalMs + plan.settleMs);
  // A slow start leaves a queue, which is not what is measured here; a machine that never gets through it is.
  const longestMs = performance.now() + longestQueueMs;
  while (((await world.inFlight()) ?? Infinity) > quietInFlight && performance.now() < longestMs) await sleep(100);
  const lateMs: number[] = [];
  const fromUs = Date.now() * 1_000;
  const untilUs = fromUs + plan.lateMs * 1_000;
  const stopListening = world.listen((result) => {
    if (result.effectiveUs < fromUs || result.effectiveUs >= untilUs) return;
    if (result.outcome !== 'skipped') lateMs.push(latenessMs(result, world.probeId, intervalMs));
  });
  const usBefore = processorTimeUs(world.pid);
  const before = { ...world.taken };
  await sleep(plan.lateMs);
  const us = processorTimeUs(world.pid) - usBefore;
  const batches = world.taken.batches - before.batches;
  const results = world.taken.results - before.results;
  await sleep(onTheWayMs);
  stopListening();
  // A slot that was skipped counts as late by a whole interval; not each of them is a result, so they are known by what is missing.
  const slots = Math.floor((plan.lateMonitors * plan.lateMs) / intervalMs);
  while (lateMs.length < slots) lateMs.push(intervalMs);
  return {
    lateMs,
    us: us / lateMs.length,
    perSecond: lateMs.length / (plan.lateMs / 1_000),
    coreShare: us / (plan.lateMs * 1_000),
    fill: results / batches,
  };
}

/**
 * How many checks a second the agent can be given before it has to skip slots: half as many more each time until it does, then once the
 * middle between the last two.
 */
export async function measureCapacity(plan: Plan, world: World, target: Target, books: Books): Promise<number> {
  const isKept = async (monitors: number): Promise<boolean> => {
    const skippedBefore = books.skipped;
    world.check(monitors, 1);
    await sleep(plan.settleMs);
    const fromSkipped = books.skipped;
    const { perSecond } = await measureAgent({ ...plan, settleMs: 0, agentMs: plan.tryMs }, world, target, monitors);
    return books.skipped === fromSkipped && books.skipped - skippedBefore < monitors && perSecond > 0.97 * monitors;
  };
  let kept = plan.firstTry;
  let next = kept;
  while (next <= plan.monitors && (await isKept(next))) {
    kept = next;
    next = Math.floor(next * 1.5);
  }
  await world.rest();
  const middle = Math.min(plan.monitors, Math.floor((kept + next) / 2));
  if (middle > kept && (await isKept(middle))) kept = middle;
  await world.rest();
  return kept;
}

/** What a check costs the agent with so many monitors of one second. */
export async function measureAgent(plan: Plan, world: World, target: Target, monitors: number): Promise<Sample> {
  world.check(monitors, 1);
  await sleep(plan.settleMs);
  const before = { count: await target.count(), us: processorTimeUs(world.pid), ms: performance.now(), ...world.taken };
  await sleep(plan.agentMs);
  const count = (await target.count()) - before.count;
  const us = processorTimeUs(world.pid) - before.us;
  return {
    us: us / count,
    perSecond: count / ((performance.now() - before.ms) / 1_000),
    fill: (world.taken.results - before.results) / (world.taken.batches - before.batches),
  };
}

/** What a check costs the C program. */
export async function measureFloor(binary: string, target: Target, books: Books, ms: number): Promise<Sample> {
  const args = [target.port, ms, floorWidth, addressCount].map(String);
  const startedMs = performance.now();
  const { stdout } = await run(binary, args);
  const { good, bad, us } = JSON.parse(stdout) as { good: number; bad: number; us: number };
  books.others += good;
  if (bad > 0) throw new Error(`${bad} checks of the floor failed`);
  return sampleOf({ us, requests: good, seconds: (performance.now() - startedMs) / 1_000 });
}

/** What a check costs the exporter. */
export async function measureBlackbox(blackbox: Blackbox, books: Books, ms: number): Promise<Sample> {
  const driven = await blackbox.probe(ms);
  books.others += driven.requests;
  return sampleOf(driven);
}

export function sampleOf({ us, requests, seconds }: Driven): Sample {
  return { us: us / requests, perSecond: requests / seconds, fill: 0 };
}
