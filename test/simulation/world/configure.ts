import type { MonitorRecord } from '../models/database/tables.ts';
import type { MonitorPlan } from './plan.ts';
import type { World } from './world.ts';

/* What users and the control plane itself change about monitors and probes. */

/** Makes a monitor at once. */
export function createMonitor(world: World, plan: MonitorPlan): void {
  const { configuration } = world.database;
  if (configuration.monitors.has(plan.id)) return;
  const nowUs = world.engine.nowUs;
  const { id, shard, intervalS, timeoutS, confirmations, policy, probeIds } = plan;
  const monitor: MonitorRecord = {
    id,
    workspaceId: 1,
    shard,
    createdUs: nowUs,
    isDeleted: false,
    isActive: true,
    intervalS,
    timeoutS,
    confirmations,
    policy,
    probeRevision: 1,
    resetUs: null,
    history: [],
    seats: [],
    pauses: [],
    status: 'UNKNOWN',
    statusSinceUs: null,
    announcedStatus: null,
    changedXid: 0,
  };
  configuration.monitors.set(id, monitor);
  remember(monitor, nowUs);
  for (const probeId of probeIds) seat(world, monitor, probeId, false, nowUs);
  configuration.changedAtOnce([id]);
}

/** Writes down what a monitor's rules are from a time on. */
export function remember(monitor: MonitorRecord, fromUs: number): void {
  const { probeRevision, confirmations, policy, intervalS, timeoutS } = monitor;
  monitor.history.push({ fromUs, probeRevision, confirmations, policy, intervalS, timeoutS });
}

/** Gives a monitor to a probe, unless it has it already. */
export function seat(world: World, monitor: MonitorRecord, probeId: number, supplement: boolean, fromUs: number): void {
  const isSeated = monitor.seats.some((each) => each.probeId === probeId && each.toUs === null);
  const region = world.database.configuration.probes.get(probeId)?.region;
  if (isSeated || region === undefined) return;
  const countsByUs = fromUs + (monitor.intervalS + monitor.timeoutS) * 1_000_000;
  monitor.seats.push({ probeId, region, supplement, fromUs, countsByUs, toUs: null, revision: 0n });
}

/** Changes a monitor as a request does: a transaction of some milliseconds, sometimes of seconds. */
export function changeMonitor(
  world: World,
  monitorId: number,
  act: (monitor: MonitorRecord, nowUs: number) => void,
  isAtOnce = false,
): void {
  const { random } = world;
  const slowly = random.chance(0.1) ? 3_000_000 : 30_000;
  const times = { beforeUs: random.between(500, slowly), afterUs: isAtOnce ? 0 : random.between(500, slowly) };
  const { configuration } = world.database;
  configuration.change([monitorId], times, (nowUs) => act(configuration.monitor(monitorId), nowUs));
}

/** A pause begins; nothing for a monitor that is paused. */
export function pause(monitor: MonitorRecord, nowUs: number): void {
  if (!monitor.isActive) return;
  monitor.isActive = false;
  monitor.pauses.push({ fromUs: nowUs, toUs: null });
}

/** The pause that is open ends. */
export function resume(monitor: MonitorRecord, nowUs: number): void {
  const open = monitor.pauses.find(({ toUs }) => toUs === null);
  if (open === undefined) return;
  monitor.isActive = true;
  open.toUs = Math.max(nowUs, open.fromUs + 1);
}

/** A supplement goes. */
export function leave(monitor: MonitorRecord, probeId: number, nowUs: number): void {
  const own = monitor.seats.find((each) => each.probeId === probeId && each.supplement && each.toUs === null);
  if (own !== undefined) own.toUs = nowUs;
}

/** Only what comes from now on counts; a job removes the rest somewhat later. */
export function reset(world: World, monitor: MonitorRecord, nowUs: number): void {
  const atUs = Math.max(Math.floor(nowUs / 1_000) * 1_000, (monitor.resetUs ?? 0) + 1_000);
  monitor.resetUs = atUs;
  monitor.status = 'UNKNOWN';
  monitor.statusSinceUs = atUs;
  world.resets(monitor.id, atUs);
  world.engine.after(world.random.between(0, 100_000_000), undefined, () => {
    if (monitor.resetUs === atUs) world.database.results.empty(monitor.id, atUs);
  });
}

/** A probe counts nowhere for a while. */
export function quarantine(world: World, probeId: number, lasts: (end: () => void) => void): void {
  const { configuration } = world.database;
  const times = { beforeUs: 2_000, afterUs: 5_000 };
  configuration.quarantine(probeId, true, times);
  lasts(() => configuration.quarantine(probeId, false, times));
}
