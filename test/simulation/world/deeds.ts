import { gateway, internet } from '../models/uplink.ts';
import { changeMonitor, createMonitor, leave, pause, quarantine, remember, reset, resume, seat } from './configure.ts';
import type { Event, TargetState } from './plan.ts';
import type { ProbeMachine } from './probe.ts';
import type { ReplicaMachine } from './replica.ts';
import type { World } from './world.ts';

/** An event that begins in a world. */
type Scene<Kind extends Event['kind'] = Event['kind']> = {
  readonly world: World;
  readonly event: Event & { readonly kind: Kind };
  /** Says how what the event has begun ends. */
  readonly lasts: (end: () => void) => void;
};

type Deeds = { readonly [Kind in Event['kind']]: (scene: Scene<Kind>) => void };

/** Does what an event says; what lasts is ended by the world. */
export function begin<Kind extends Event['kind']>(world: World, event: Event & { readonly kind: Kind }): void {
  deeds[event.kind]({ world, event, lasts: (end) => world.lasts(event.lastsUs, end) });
}

/** What happens to targets. */
const targetDeeds = {
  target: ({ world, event, lasts }) => {
    for (const region of event.regions) world.targets.begin(event.monitorId, region, event.state);
    lasts(() => {
      for (const region of event.regions) world.targets.end(event.monitorId, region, event.state);
    });
  },
  flapping: ({ world, event, lasts }) => {
    flap(world, event.monitorId, event.everyUs, lasts);
  },
} satisfies Partial<Deeds>;

/** What happens to probes and their machines. */
const probeDeeds = {
  agent_killed: ({ world, event }) => {
    probe(world, event.probeId).kill();
  },
  agent_restarted: ({ world, event }) => {
    probe(world, event.probeId).restart();
  },
  power_lost: ({ world, event, lasts }) => {
    const machine = probe(world, event.probeId);
    machine.losePower();
    lasts(() => machine.regainPower());
  },
  asleep: ({ world, event, lasts }) => {
    const machine = probe(world, event.probeId);
    if (machine.machine.isAsleep) return;
    machine.sleep();
    lasts(() => machine.wake());
  },
  wall_set: ({ world, event }) => {
    probe(world, event.probeId).machine.setWall(world.engine.nowUs, event.byUs);
  },
  clock_drifts: ({ world, event }) => {
    probe(world, event.probeId).machine.setRate(world.engine.nowUs, event.rate);
  },
  uplink_lost: (scene) => {
    const { world, event } = scene;
    const { name } = probe(world, event.probeId).machine;
    for (const place of [gateway, internet, 'broker', ...world.replicas.map((replica) => replica.name)])
      cut(scene, name, place);
  },
  session_cut: (scene) => {
    const { world, event } = scene;
    for (const replica of world.replicas) cut(scene, probe(world, event.probeId).machine.name, replica.name);
  },
  broker_cut: (scene) => {
    const { world, event } = scene;
    cut(scene, probe(world, event.probeId).machine.name, 'broker');
  },
  disk_full: (scene) => {
    spoilDisk(scene, 'full');
  },
  disk_broken: (scene) => {
    spoilDisk(scene, 'broken');
  },
  disk_stalls: ({ world, event, lasts }) => {
    const { disk } = probe(world, event.probeId);
    disk.stallUs = 3_000_000;
    lasts(() => {
      disk.stallUs = 0;
    });
  },
} satisfies Partial<Deeds>;

/** What happens to the broker, the control plane and the database. */
const centreDeeds = {
  broker_killed: ({ world, event, lasts }) => {
    if (!world.broker.isUp) return;
    world.broker.kill(event.isLossy);
    if (event.store === 'rolled_back') world.broker.rollBack();
    if (event.store === 'wiped') world.broker.wipe();
    lasts(() => world.broker.start());
  },
  broker_frozen: ({ world, lasts }) => {
    const { process } = world.broker;
    world.engine.freeze(process);
    world.network.silence('broker', () => process.isFrozen);
    lasts(() => world.engine.thaw(process));
  },
  replica_killed: ({ world, event }) => {
    replica(world, event.replica).kill();
  },
  replica_restarted: ({ world, event }) => {
    replica(world, event.replica).restart();
  },
  replica_frozen: ({ world, event, lasts }) => {
    const { process, name } = replica(world, event.replica);
    if (process === undefined) return;
    world.engine.freeze(process);
    world.network.silence(name, () => process.isFrozen);
    lasts(() => world.engine.thaw(process));
  },
  replica_without_database: (scene) => {
    const { world, event } = scene;
    cut(scene, replica(world, event.replica).name, 'database');
  },
  replica_without_broker: (scene) => {
    const { world, event } = scene;
    cut(scene, replica(world, event.replica).name, 'broker');
  },
  lock_lost: ({ world, event }) => {
    world.database.locks.loseAdvisory(event.shard);
  },
  database_frozen: ({ world, lasts }) => {
    const { process } = world.database;
    world.engine.freeze(process);
    lasts(() => world.engine.thaw(process));
  },
  database_killed: ({ world, lasts }) => {
    if (!world.database.isUp) return;
    world.database.kill();
    lasts(() => world.database.start());
  },
  commits_fail: ({ world, event, lasts }) => {
    world.database.trouble = { share: event.share, fates: event.fates };
    lasts(() => {
      world.database.trouble = undefined;
    });
  },
} satisfies Partial<Deeds>;

/** What people do. */
const userDeeds = {
  paused: ({ world, event, lasts }) => {
    changeMonitor(world, event.monitorId, (monitor, nowUs) => pause(monitor, nowUs));
    lasts(() => changeMonitor(world, event.monitorId, (monitor, nowUs) => resume(monitor, nowUs)));
  },
  retargeted: ({ world, event }) => {
    changeMonitor(world, event.monitorId, (monitor, nowUs) => {
      monitor.probeRevision += 1;
      remember(monitor, nowUs);
    });
  },
  rules_changed: ({ world, event }) => {
    changeMonitor(world, event.monitorId, (monitor, nowUs) => {
      monitor.confirmations = event.confirmations;
      monitor.policy = event.policy;
      remember(monitor, nowUs);
    });
  },
  interval_changed: ({ world, event }) => {
    changeMonitor(world, event.monitorId, (monitor, nowUs) => {
      monitor.intervalS = event.intervalS;
      remember(monitor, nowUs);
    });
  },
  reset: ({ world, event }) => {
    // It has the monitor's row, which the ingest writes too, from its first statement on: for the ingest it happens at one instant.
    changeMonitor(world, event.monitorId, (monitor, nowUs) => reset(world, monitor, nowUs), true);
  },
  deleted: ({ world, event }) => {
    changeMonitor(world, event.monitorId, (monitor, nowUs) => {
      monitor.isDeleted = true;
      for (const each of monitor.seats) each.toUs ??= nowUs;
    });
  },
  seat_closed: ({ world, event }) => {
    changeMonitor(world, event.monitorId, (monitor, nowUs) => {
      const open = monitor.seats.filter((each) => each.toUs === null);
      const chosen = open[event.seat % Math.max(1, open.length)];
      if (chosen !== undefined) chosen.toUs = nowUs;
    });
  },
  seated: ({ world, event, lasts }) => {
    changeMonitor(world, event.monitorId, (monitor, nowUs) =>
      seat(world, monitor, event.probeId, event.supplement, nowUs),
    );
    if (event.supplement)
      lasts(() => changeMonitor(world, event.monitorId, (monitor, nowUs) => leave(monitor, event.probeId, nowUs)));
  },
  quarantined: ({ world, event, lasts }) => {
    quarantine(world, event.probeId, lasts);
  },
  created: ({ world, event }) => {
    createMonitor(world, event.monitor);
  },
  asked: ({ world, event }) => {
    world.broker.hint(`dispatch.${event.probeId}`, {
      type: 'run_check',
      monitor_id: event.monitorId,
      kind: 'manual',
      deadline_ms: 10_000,
      trace: false,
    });
  },
} satisfies Partial<Deeds>;

const deeds: Deeds = { ...targetDeeds, ...probeDeeds, ...centreDeeds, ...userDeeds };

function cut({ world, lasts }: Pick<Scene, 'world' | 'lasts'>, one: string, other: string): void {
  world.network.cut(one, other);
  lasts(() => world.network.heal(one, other));
}

function spoilDisk({ world, event, lasts }: Scene<'disk_full'> | Scene<'disk_broken'>, state: 'full' | 'broken'): void {
  const { disk } = probe(world, event.probeId);
  disk.state = state;
  lasts(() => {
    disk.state = 'well';
  });
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
