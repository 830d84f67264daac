import type { MonitorRecord } from '../models/database/tables.ts';
import { gateway, internet } from '../models/uplink.ts';
import { changeMonitor, createMonitor, leave, pause, quarantine, remember, reset, resume, seat } from './configure.ts';
import type { Event, TargetState } from './plan.ts';
import type { ProbeMachine } from './probe.ts';
import type { ReplicaMachine } from './replica.ts';
import type { World } from './world.ts';

/** Does what an event says; what lasts is ended by the world. */
export function begin(world: World, event: Event): void {
  const { network, database, broker, engine, targets } = world;
  const lasts = (end: () => void): void => world.lasts(event.lastsUs, end);
  const cut = (one: string, other: string): void => {
    network.cut(one, other);
    lasts(() => network.heal(one, other));
  };
  const change = (monitorId: number, act: (monitor: MonitorRecord, nowUs: number) => void): void =>
    changeMonitor(world, monitorId, act);

  switch (event.kind) {
    case 'target':
      for (const region of event.regions) targets.begin(event.monitorId, region, event.state);
      lasts(() => {
        for (const region of event.regions) targets.end(event.monitorId, region, event.state);
      });
      break;
    case 'flapping':
      flap(world, event.monitorId, event.everyUs, lasts);
      break;
    case 'agent_killed':
      probe(world, event.probeId).kill();
      break;
    case 'agent_restarted':
      probe(world, event.probeId).restart();
      break;
    case 'power_lost': {
      const machine = probe(world, event.probeId);
      machine.losePower();
      lasts(() => machine.regainPower());
      break;
    }
    case 'asleep': {
      const machine = probe(world, event.probeId);
      if (machine.machine.isAsleep) break;
      machine.sleep();
      lasts(() => machine.wake());
      break;
    }
    case 'wall_set':
      probe(world, event.probeId).machine.setWall(engine.nowUs, event.byUs);
      break;
    case 'clock_drifts':
      probe(world, event.probeId).machine.setRate(engine.nowUs, event.rate);
      break;
    case 'uplink_lost': {
      const { name } = probe(world, event.probeId).machine;
      for (const place of [gateway, internet, 'broker', ...world.replicas.map((replica) => replica.name)])
        cut(name, place);
      break;
    }
    case 'session_cut':
      for (const replica of world.replicas) cut(probe(world, event.probeId).machine.name, replica.name);
      break;
    case 'broker_cut':
      cut(probe(world, event.probeId).machine.name, 'broker');
      break;
    case 'disk_full':
    case 'disk_broken': {
      const { disk } = probe(world, event.probeId);
      disk.state = event.kind === 'disk_full' ? 'full' : 'broken';
      lasts(() => {
        disk.state = 'well';
      });
      break;
    }
    case 'disk_stalls': {
      const { disk } = probe(world, event.probeId);
      disk.stallUs = 3_000_000;
      lasts(() => {
        disk.stallUs = 0;
      });
      break;
    }
    case 'broker_killed':
      if (!broker.isUp) break;
      broker.kill(event.isLossy);
      if (event.store === 'rolled_back') broker.rollBack();
      if (event.store === 'wiped') broker.wipe();
      lasts(() => broker.start());
      break;
    case 'broker_frozen': {
      const { process } = broker;
      engine.freeze(process);
      network.silence('broker', () => process.isFrozen);
      lasts(() => engine.thaw(process));
      break;
    }
    case 'replica_killed':
      replica(world, event.replica).kill();
      break;
    case 'replica_restarted':
      replica(world, event.replica).restart();
      break;
    case 'replica_frozen': {
      const { process, name } = replica(world, event.replica);
      if (process === undefined) break;
      engine.freeze(process);
      network.silence(name, () => process.isFrozen);
      lasts(() => engine.thaw(process));
      break;
    }
    case 'replica_without_database':
      cut(replica(world, event.replica).name, 'database');
      break;
    case 'replica_without_broker':
      cut(replica(world, event.replica).name, 'broker');
      break;
    case 'lock_lost':
      database.locks.loseAdvisory(event.shard);
      break;
    case 'database_frozen': {
      const { process } = database;
      engine.freeze(process);
      lasts(() => engine.thaw(process));
      break;
    }
    case 'database_killed':
      if (!database.isUp) break;
      database.kill();
      lasts(() => database.start());
      break;
    case 'commits_fail':
      database.trouble = { share: event.share, fates: event.fates };
      lasts(() => {
        database.trouble = undefined;
      });
      break;
    case 'paused':
      change(event.monitorId, (monitor, nowUs) => pause(monitor, nowUs));
      lasts(() => change(event.monitorId, (monitor, nowUs) => resume(monitor, nowUs)));
      break;
    case 'retargeted':
      change(event.monitorId, (monitor, nowUs) => {
        monitor.probeRevision += 1;
        remember(monitor, nowUs);
      });
      break;
    case 'rules_changed':
      change(event.monitorId, (monitor, nowUs) => {
        monitor.confirmations = event.confirmations;
        monitor.policy = event.policy;
        remember(monitor, nowUs);
      });
      break;
    case 'interval_changed':
      change(event.monitorId, (monitor, nowUs) => {
        monitor.intervalS = event.intervalS;
        remember(monitor, nowUs);
      });
      break;
    case 'reset':
      // It has the monitor's row, which the ingest writes too, from its first statement on: for the ingest it happens at one instant.
      changeMonitor(world, event.monitorId, (monitor, nowUs) => reset(world, monitor, nowUs), true);
      break;
    case 'deleted':
      change(event.monitorId, (monitor, nowUs) => {
        monitor.isDeleted = true;
        for (const each of monitor.seats) each.toUs ??= nowUs;
      });
      break;
    case 'seat_closed':
      change(event.monitorId, (monitor, nowUs) => {
        const open = monitor.seats.filter((each) => each.toUs === null);
        const chosen = open[event.seat % Math.max(1, open.length)];
        if (chosen !== undefined) chosen.toUs = nowUs;
      });
      break;
    case 'seated':
      change(event.monitorId, (monitor, nowUs) => seat(world, monitor, event.probeId, event.supplement, nowUs));
      if (event.supplement)
        lasts(() => change(event.monitorId, (monitor, nowUs) => leave(monitor, event.probeId, nowUs)));
      break;
    case 'quarantined':
      quarantine(world, event.probeId, lasts);
      break;
    case 'created':
      createMonitor(world, event.monitor);
      break;
    case 'asked':
      broker.hint(`dispatch.${event.probeId}`, {
        type: 'run_check',
        monitor_id: event.monitorId,
        kind: 'manual',
        deadline_ms: 10_000,
        trace: false,
      });
      break;
  }
}

function probe(world: World, id: number): ProbeMachine {
  const found = world.probes.find(({ plan }) => plan.id === id);
  if (found === undefined) throw new Error(`there is no probe ${id}`);
  return found;
}

function replica(world: World, index: number): ReplicaMachine {
  const found = world.replicas[index];
  if (found === undefined) throw new Error(`there is no replica ${index}`);
  return found;
}

function flap(world: World, monitorId: number, everyUs: number, lasts: (end: () => void) => void): void {
  const places = ['eu', 'us', 'ap', 'central'];
  const state: TargetState = 'fail';
  let isFailing = false;
  let isOver = false;
  const turn = (): void => {
    if (isOver) return;
    for (const region of places) world.targets[isFailing ? 'end' : 'begin'](monitorId, region, state);
    isFailing = !isFailing;
    world.engine.after(everyUs, undefined, turn);
  };
  turn();
  lasts(() => {
    isOver = true;
    if (isFailing) for (const region of places) world.targets.end(monitorId, region, state);
  });
}
