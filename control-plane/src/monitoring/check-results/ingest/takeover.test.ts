import t from 'tap';
import { rowsBeforeHorizon } from '../../consensus/index.ts';
import type { MonitorInputs } from '../../consensus/index.ts';
import {
  adopt,
  createMemory,
  rebuildWindows,
  restoreAll,
  takeoverHorizon,
  underQuarantine,
  windowOf,
} from './memory.ts';
import type { ShardMonitor } from './queries.ts';
import type { StoredWindow } from './windows/queries.ts';

const second = 1_000_000;
const toldUs = 100_000 * second;
const nearUs = toldUs - 30 * second;
const freshUs = 160 * second;
const seat = (voter: number) => ({ voter, region: 'r', fromUs: 10 * second, toUs: null, supplement: false });

function monitor(inputs: Partial<MonitorInputs> = {}, changed: Partial<ShardMonitor> = {}): ShardMonitor {
  return {
    monitorId: 1,
    workspaceId: 1,
    isDeleted: false,
    probes: new Set([3, 4]),
    status: 'UP',
    statusSinceUs: null,
    announcedStatus: null,
    longestFreshUs: freshUs,
    intervalS: 60,
    timeoutS: 10,
    confirmations: 2,
    changedXid: '1',
    ...changed,
    inputs: {
      monitorId: 1,
      assignments: [seat(3)],
      configurations: [{ fromUs: 10 * second, probeRevision: 1, confirmations: 2, policy: 'majority' }],
      pauses: [],
      quarantines: [],
      resetUs: null,
      createdUs: 10 * second,
      ...inputs,
    },
  };
}

const emptyWindow = (): StoredWindow => ({
  before: [],
  results: [],
  votesAtHorizon: new Map(),
  storedRanges: [],
  storedProbeRanges: [],
});
const memoryOf = (...monitors: readonly ShardMonitor[]) => {
  const memory = createMemory({ cursors: new Map(), probes: new Map(), mark: '1', toldUntilUs: toldUs });
  for (const each of monitors) memory.monitors.set(each.monitorId, each);
  return memory;
};

t.test('a takeover goes back for each change of the last minute before what was told', async (t) => {
  const deep = (changedUs: number) => changedUs - rowsBeforeHorizon * freshUs;
  const pausedFrom = (fromUs: number, toUs: number | null = null) =>
    takeoverHorizon(monitor({ pauses: [{ fromUs, toUs }] }), toldUs);
  t.equal(pausedFrom(nearUs - 30 * second), nearUs, 'at the edge');
  t.equal(pausedFrom(nearUs - 30 * second + 1), deep(nearUs - 30 * second + 1));
  const configured = (fromUs: number) =>
    monitor({ configurations: [{ fromUs, probeRevision: 1, confirmations: 2, policy: 'majority' }] });
  t.equal(takeoverHorizon(configured(toldUs - second), toldUs), deep(toldUs - second), 'a configuration');
  t.equal(takeoverHorizon(monitor({ quarantines: [{ voter: 3, fromUs: toldUs, toUs: null }] }), toldUs), deep(toldUs));
  t.equal(
    takeoverHorizon(monitor({ pauses: [{ fromUs: toldUs - 2 * second, toUs: toldUs - second }] }), toldUs),
    deep(toldUs - 2 * second),
    'the earliest of several',
  );
  const far = { pauses: [{ fromUs: toldUs + 2_000 * second, toUs: null }] };
  t.equal(takeoverHorizon(monitor(far), toldUs), nearUs, 'never later than where nothing changed');
  t.equal(takeoverHorizon(monitor({}, { longestFreshUs: 0 }), 0), -30 * second, 'a change of the future');
  t.equal(takeoverHorizon(monitor(), 0), deep(10 * second), 'an open end and a reset that never was are no changes');
});

t.test('a restore takes those that are there, once', async (t) => {
  const refoldFromUs = toldUs - 5_000 * second;
  const memory = memoryOf(
    monitor(),
    monitor({}, { monitorId: 2, isDeleted: true }),
    monitor({}, { monitorId: 3 }),
    monitor({}, { monitorId: 4, refoldFromUs }),
  );
  const windows = new Map([1, 2, 4, 5].map((id) => [id, emptyWindow()]));
  const wanted = [1, 2, 3, 5].map((monitorId) => ({ ...windowOf(monitor(), toldUs), monitorId }));
  restoreAll(memory, [...wanted, { ...windowOf(monitor(), refoldFromUs), monitorId: 4, refoldFromUs }], windows);
  t.same(
    [1, 2, 3, 4, 5].map((id) => memory.fold.has(id)),
    [true, false, false, true, false],
    'neither what is deleted, nor what was not read, nor what is not known',
  );
  t.same(memory.fold.take(toldUs, true).refolded, [{ monitorId: 4, fromUs: refoldFromUs }]);
  t.equal(memory.monitors.get(4)?.refoldFromUs, null, 'what was derived anew is not asked for again');
  t.equal(memory.monitors.get(1)?.refoldFromUs, undefined, 'of others nothing changes');
});

t.test('a monitor that was derived anew is read as any other', async (t) => {
  t.same(adopt(memoryOf(), [monitor({}, { refoldFromUs: null })]), [windowOf(monitor(), nearUs)]);
});

t.test('nothing is read again of a monitor that is not known', async (t) => {
  const windows = rebuildWindows(memoryOf(monitor()), [
    { monitorId: 9, fromUs: toldUs },
    { monitorId: 1, fromUs: toldUs },
  ]);
  t.same(
    windows.map(({ monitorId, horizonUs }) => [monitorId, horizonUs]),
    [[1, toldUs]],
  );
});

t.test('a changed configuration reaches the fold', async (t) => {
  const memory = memoryOf();
  const windows = new Map([[1, emptyWindow()]]);
  restoreAll(memory, adopt(memory, [monitor()]), windows);
  memory.fold.take(toldUs, true);
  t.same(memory.fold.rebuilds(), []);
  t.same(adopt(memory, [monitor({ resetUs: toldUs - second })]), []);
  t.same(
    memory.fold.rebuilds().map(({ monitorId }) => monitorId),
    [1],
    'a reset concerns everything',
  );
});

t.test('a quarantine of one of several probes concerns a monitor, in whatever order intervals are known', async (t) => {
  const first = { fromUs: 100 * second, toUs: 200 * second };
  const second_ = { fromUs: 300 * second, toUs: null };
  const known = [
    { voter: 3, ...second_ },
    { voter: 3, ...first },
    { voter: 4, ...first },
  ];
  const memory = memoryOf(monitor({ assignments: [seat(3), seat(4)], quarantines: known }));
  t.same(underQuarantine(memory, new Map([[3, [first, second_]]])), [], 'the same in another order');
  const changed = underQuarantine(memory, new Map([[3, [first]]]));
  t.same(
    changed.map(({ inputs }) => inputs.quarantines),
    [
      [
        { voter: 4, ...first },
        { voter: 3, ...first },
      ],
    ],
    'those of other probes stay',
  );
  t.same(
    underQuarantine(memoryOf(monitor({ assignments: [seat(3)] })), new Map([[3, []]])),
    [],
    'nothing known and nothing to know',
  );
});
