import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ResultRecord } from '@parallax/wire';
import { findBlackbox, startBlackbox } from './agent/blackbox.ts';
import { median, percentile } from './agent/lateness.ts';
import {
  assertBooks,
  enter,
  measureAgent,
  measureBlackbox,
  measureCapacity,
  measureFloor,
  measureLateness,
  sampleOf,
} from './agent/measure.ts';
import type { Books, Plan, Sample } from './agent/measure.ts';
import { measurePublishing } from './agent/publishing.ts';
import { compile, startTarget } from './agent/target.ts';
import type { Teardown } from './agent/teardown.ts';
import { startWorld } from './agent/world.ts';
import type { Bench } from './report.ts';

/** About two minutes. */
const whole: Plan = {
  monitors: 16_000,
  firstTry: 3_000,
  tryMs: 1_500,
  rounds: 5,
  settleMs: 2_500,
  agentMs: 4_000,
  floorMs: 2_000,
  blackboxMs: 4_000,
  serveMs: 1_500,
  lateMonitors: 10_000,
  lateIntervalS: 5,
  lateMs: 12_000,
  published: 20_000,
  publishWarmUps: 10,
  publishRounds: 9,
};
/** A few seconds: says that the bench works, its figures mean little. */
const brief: Plan = {
  monitors: 200,
  firstTry: 150,
  tryMs: 500,
  rounds: 1,
  settleMs: 1_500,
  agentMs: 1_000,
  floorMs: 200,
  blackboxMs: 300,
  serveMs: 200,
  lateMonitors: 200,
  lateIntervalS: 1,
  lateMs: 1_000,
  published: 2_000,
  publishWarmUps: 1,
  publishRounds: 1,
};
/** Less than a minute and a half, for the bench that asks for more than the agent. */
const part: Plan = {
  ...whole,
  rounds: 3,
  agentMs: 3_000,
  floorMs: 1_500,
  blackboxMs: 2_000,
  lateMs: 8_000,
  publishWarmUps: 8,
  publishRounds: 3,
};

/** The share of what the agent has kept up with that it is given, since a shared machine does not stay the same. */
const load = 0.95;

/** The agent as it is shipped beside the least that such a check can cost and beside what others use, in one run. */
export const agentBench: Bench = {
  name: 'agent',
  summary:
    'HTTP checks of the whole agent beside a C floor and blackbox_exporter; lateness at 2,000 a second; publishing',
  run: (say, options) => runAgent(options?.brief === true ? brief : whole, say),
};

/** A shorter run of the same, as a part of another bench. */
export function measureAgentPart(say: (line: string) => void, isBrief: boolean): ReturnType<Bench['run']> {
  return runAgent(isBrief ? brief : part, say);
}

async function runAgent(plan: Plan, say: (line: string) => void): ReturnType<Bench['run']> {
  return undoing((teardown) => measure(plan, say, teardown));
}

/** Gives what is to be undone its place; undone when it ends, and when somebody interrupts. */
export async function undoing<Value>(work: (teardown: Teardown) => Promise<Value>): Promise<Value> {
  const undo: (() => unknown)[] = [];
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => (ending ??= undoAll(undo));
  // Whoever interrupts the bench does not want its processes to stay.
  const interrupted = (): void => void end().finally(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, interrupted);
  try {
    return await work((step) => void undo.unshift(step));
  } finally {
    await end();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, interrupted);
  }
}

async function undoAll(steps: (() => unknown)[]): Promise<void> {
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) await step();
}

async function measure(plan: Plan, say: (line: string) => void, teardown: Teardown) {
  const folder = mkdtempSync(path.join(tmpdir(), 'parallax-bench-'));
  teardown(() => rmSync(folder, { recursive: true, force: true }));
  const targetProgram = compile('target', folder);
  const floorProgram = compile('floor', folder);
  const blackboxBinary = findBlackbox();
  if ('missing' in targetProgram)
    say(`${targetProgram.missing}: there is no C floor, and a Node process stands for the target`);
  if (blackboxBinary === undefined)
    say('blackbox_exporter is not installed (apt-get install prometheus-blackbox-exporter): it is left out');
  const target = await startTarget('binary' in targetProgram ? targetProgram.binary : undefined, teardown);
  const blackbox =
    blackboxBinary && (await startBlackbox(blackboxBinary, { folder, targetPort: target.port }, teardown));
  say('starting nats-server, enrolment, session and the agent');
  const first = { monitors: plan.lateMonitors, intervalS: plan.lateIntervalS };
  const books: Books = { checks: 0, skipped: 0, failed: 0, others: 0 };
  const onResult = (result: ResultRecord): void => enter(books, result);
  const world = await startWorld({ folder, targetPort: target.port, first, onResult }, say, teardown);

  say(`lateness: ${plan.lateMonitors} monitors every ${plan.lateIntervalS} s`);
  const lateness = await measureLateness(plan, world);
  await world.rest();

  say('saturation: how many checks a second the agent makes here before it skips slots');
  const capacity = await measureCapacity(plan, world, target, books);
  const active = Math.max(1, Math.floor(capacity * load));
  say(`${capacity} were kept up with; it is given ${active}`);
  const agent: Sample[] = [];
  const floor: Sample[] = [];
  const blackboxes: Sample[] = [];
  const serving: Sample[] = [];
  const skippedBefore = books.skipped;
  for (let round = 1; round <= plan.rounds; round += 1) {
    say(
      `round ${round} of ${plan.rounds}: agent${'binary' in floorProgram ? ', floor' : ''}${blackbox ? ', blackbox_exporter' : ''}`,
    );
    agent.push(await measureAgent(plan, world, target, active));
    await world.rest();
    if ('binary' in floorProgram) floor.push(await measureFloor(floorProgram.binary, target, books, plan.floorMs));
    if (blackbox) {
      const probed = await measureBlackbox(blackbox, books, plan.blackboxMs);
      blackboxes.push(probed);
      serving.push(sampleOf(await blackbox.serve(plan.serveMs, probed.perSecond)));
    }
  }
  await assertBooks(books, target);

  say(`publishing ${plan.published} results that are on disk, ${plan.publishRounds} times`);
  const publishing = await measurePublishing(plan, folder, world);

  const costs = { agent: us(agent), floor: us(floor), blackbox: us(blackboxes), serving: us(serving) };
  const { lateMs } = lateness;
  const fill = agent.reduce((sum, each) => sum + each.fill, 0) / agent.length;
  const figures = {
    ...(floor.length > 0 && {
      http_vs_floor: round(median(pairs(costs.agent, costs.floor))),
      floor_us: round(median(costs.floor)),
    }),
    ...(blackboxes.length > 0 && {
      http_vs_blackbox: round(median(pairs(costs.agent, costs.blackbox)), 1_000),
      http_vs_blackbox_net: round(
        median(costs.agent.map((each, at) => each / ((costs.blackbox[at] ?? NaN) - (costs.serving[at] ?? NaN)))),
        1_000,
      ),
      blackbox_us: round(median(costs.blackbox)),
      blackbox_serving_us: round(median(costs.serving)),
    }),
    agent_us: round(median(costs.agent)),
    agent_checks_per_second: Math.round(median(agent.map((each) => each.perSecond))),
    lateness_p50_ms: round(percentile(lateMs, 0.5)),
    lateness_p99_ms: round(percentile(lateMs, 0.99)),
    'lateness_p99.9_ms': round(percentile(lateMs, 0.999)),
    core_share: round(lateness.coreShare, 1_000),
    publish_us: round(median(publishing.costs)),
    publish_signing_us: round(median(publishing.signing)),
    batch_fill: round(fill),
    batch_fill_lateness: round(lateness.fill),
    skipped: books.skipped - skippedBefore,
    shards: 1,
    checks: books.checks,
  };
  const table: (readonly [string, string])[] = [
    [
      'agent, whole',
      `${range(costs.agent)} µs a check, ${figures.agent_checks_per_second.toLocaleString('en')}/s, ${figures.skipped} slots skipped`,
    ],
  ];
  if (floor.length > 0) {
    table.push(['C floor', `${range(costs.floor)} µs a check, as many at the same time as it likes`]);
    table.push(['agent : floor', `${range(pairs(costs.agent, costs.floor))} (goal 1.8)`]);
  }
  if (blackboxes.length > 0) {
    table.push(
      ['blackbox_exporter', `${range(costs.blackbox)} µs a check, its own answer to /probe included`],
      ['  serving a request', `${range(costs.serving)} µs for /-/healthy at the same rate`],
      [
        'agent : blackbox_exporter',
        `${range(pairs(costs.agent, costs.blackbox), 1_000)} (goal 0.22); net of serving ${figures.http_vs_blackbox_net}`,
      ],
    );
  }
  table.push(
    [
      'lateness',
      `p50 ${figures.lateness_p50_ms}, p99 ${figures.lateness_p99_ms} (goal 2), p99.9 ${figures['lateness_p99.9_ms']} ms at ${Math.round(lateness.perSecond).toLocaleString('en')} checks/s`,
    ],
    [
      'share of a core',
      `${(100 * lateness.coreShare).toFixed(1)} % at that rate (goal 25 %), ${lateness.us.toFixed(1)} µs a check`,
    ],
    ['publishing', `${range(publishing.costs)} µs a result (goal 1): read, batch, sign, publish, be acknowledged`],
    ['  signing', `${range(publishing.signing)} µs of it: as many signatures by themselves`],
    ['fill', `${figures.batch_fill} results a batch, at 2,000/s ${figures.batch_fill_lateness}; 1 shard`],
    ['books', `${books.checks.toLocaleString('en')} checks made, as many counted by the target, as many results taken`],
  );
  return { figures, table };
}

const us = (samples: readonly Sample[]): number[] => samples.map((each) => each.us);

function pairs(ours: readonly number[], others: readonly number[]): number[] {
  return ours.map((each, at) => each / (others[at] ?? NaN));
}

function round(value: number, parts = 100): number {
  return Math.round(value * parts) / parts;
}

/** Median, and smallest and largest. */
function range(values: readonly number[], parts = 100): string {
  return `${round(median(values), parts)} (${round(Math.min(...values), parts)}–${round(Math.max(...values), parts)})`;
}
