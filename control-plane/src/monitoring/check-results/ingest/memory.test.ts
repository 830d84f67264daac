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

const second = 1_000_000;
const toldUs = 100_000 * second;
const freshUs = 160 * second;

function monitor(inputs: Partial<MonitorInputs> = {}, changed: Partial<ShardMonitor> = {}): ShardMonitor {
  const created = { fromUs: 10 * second, probeRevision: 1, confirmations: 2, policy: 'majority' } as const;
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
      assignments: [{ voter: 3, region: 'r', fromUs: 10 * second, toUs: null, supplement: false }],
      configurations: [created],
      pauses: [],
      quarantines: [],
      resetUs: null,
      createdUs: 10 * second,
      ...inputs,
    },
  };
}

t.test(
  'a takeover reads from shortly before what was told; further back where configuration changed since',
  async (t) => {
    t.equal(takeoverHorizon(monitor(), toldUs), toldUs - 30 * second);
    const deep = (changedUs: number) => changedUs - rowsBeforeHorizon * freshUs;
    const pausedAt = (fromUs: number, toUs: number | null = null) => monitor({ pauses: [{ fromUs, toUs }] });
    t.equal(takeoverHorizon(pausedAt(toldUs), toldUs), deep(toldUs));
    t.equal(
      takeoverHorizon(pausedAt(20 * second, toldUs + second), toldUs),
      deep(toldUs + second),
      'the end of a pause',
    );
    t.equal(takeoverHorizon(pausedAt(toldUs - 300 * second), toldUs), toldUs - 30 * second, 'long told');
    const reset = monitor({ resetUs: toldUs - 5 * second });
    t.equal(takeoverHorizon(reset, toldUs), deep(toldUs - 5 * second));
  },
);

t.test(
  'a window reaches back as far as rows may matter, for everybody who was ever assigned and for the control plane',
  async (t) => {
    t.same(windowOf(monitor(), 7), {
      monitorId: 1,
      horizonUs: 7,
      backUs: (rowsBeforeHorizon + 1) * freshUs,
      voters: [0, 3, 4],
    });
  },
);

t.test(
  'configuration is taken in: what is new must be read, what is deleted goes, nothing is rebuilt before its creation',
  async (t) => {
    const memory = createMemory({ cursors: new Map(), probes: new Map(), mark: '1', toldUntilUs: toldUs });
    const [wanted] = adopt(memory, [monitor()]);
    t.equal(wanted?.monitorId, 1);
    const window = { before: [], results: [], votesAtHorizon: new Map(), storedRanges: [], storedProbeRanges: [] };
    memory.fold.restore({ monitor: monitor(), window, horizonUs: toldUs, toldUntilUs: toldUs });
    t.same(adopt(memory, [monitor()]), [], 'known already');
    t.same(
      rebuildWindows(memory, [{ monitorId: 1, fromUs: 0 }]).map(({ horizonUs }) => horizonUs),
      [10 * second - 1],
    );
    adopt(memory, [monitor({}, { isDeleted: true })]);
    t.notOk(memory.fold.has(1));
    t.ok(memory.monitors.get(1)?.isDeleted, 'its results are known to be dropped');
  },
);

t.test('a quarantine concerns the monitors of its probe, and those only that do not know of it', async (t) => {
  const memory = createMemory({ cursors: new Map(), probes: new Map(), mark: '1', toldUntilUs: toldUs });
  const known = { voter: 3, fromUs: toldUs, toUs: null };
  const assigned = (voter: number) => [{ voter, region: 'r', fromUs: 10 * second, toUs: null, supplement: false }];
  for (const [monitorId, inputs] of [
    [1, {}],
    [2, { quarantines: [known] }],
    [3, { assignments: assigned(4), quarantines: [{ ...known, voter: 4 }] }],
  ] as const)
    memory.monitors.set(monitorId, monitor(inputs, { monitorId }));
  memory.monitors.set(4, monitor({}, { monitorId: 4, isDeleted: true }));
  const begun = underQuarantine(memory, new Map([[3, [{ fromUs: toldUs, toUs: null }]]]));
  t.match(begun, [{ monitorId: 1, inputs: { quarantines: [known] } }]);
  const ended = underQuarantine(memory, new Map([[3, [{ fromUs: toldUs, toUs: toldUs + second }]]]));
  t.same(
    ended.map(({ monitorId, inputs }) => [monitorId, inputs.quarantines]),
    [1, 2].map((monitorId) => [monitorId, [{ ...known, toUs: toldUs + second }]]),
  );
  t.same(underQuarantine(memory, new Map([[9, [{ fromUs: toldUs, toUs: null }]]])), [], 'of another probe');
});

t.test('inputs that are not read any more because they ended long ago change nothing of the past', async (t) => {
  const memory = createMemory({ cursors: new Map(), probes: new Map(), mark: '1', toldUntilUs: toldUs });
  const seat = { voter: 3, region: 'r', fromUs: 10 * second, toUs: null, supplement: false };
  const ended = { fromUs: 20 * second, toUs: 30 * second };
  const first = { fromUs: 10 * second, probeRevision: 1, confirmations: 2, policy: 'majority' } as const;
  const later = { ...first, fromUs: 40 * second, confirmations: 3 };
  const before = monitor({
    assignments: [{ ...seat, ...ended, voter: 4 }, seat],
    pauses: [ended],
    quarantines: [{ ...ended, voter: 4 }],
    configurations: [first, later],
  });
  adopt(memory, [before]);
  const window = { before: [], results: [], votesAtHorizon: new Map(), storedRanges: [], storedProbeRanges: [] };
  memory.fold.restore({ monitor: before, window, horizonUs: toldUs, toldUntilUs: toldUs });
  const after = monitor({ assignments: [seat], configurations: [later] });
  t.same(adopt(memory, [after]), []);
  t.same(memory.fold.rebuilds(), [], 'nothing is derived again without them');
  t.same(memory.monitors.get(1)?.inputs, before.inputs);
  adopt(memory, [monitor({ assignments: [{ ...seat, toUs: toldUs + second }], configurations: [later] })]);
  t.same(
    memory.monitors
      .get(1)
      ?.inputs.assignments.map(({ voter, toUs }) => [voter, toUs])
      .sort(),
    [
      [3, toldUs + second],
      [4, 30 * second],
    ],
  );
});

t.test('a monitor whose ranges are to be derived anew is read from there on, known or not', async (t) => {
  const memory = createMemory({ cursors: new Map(), probes: new Map(), mark: '1', toldUntilUs: toldUs });
  const refoldFromUs = toldUs - 5_000 * second;
  const refold = monitor({}, { refoldFromUs });
  const wanted = { horizonUs: refoldFromUs, refoldFromUs };
  t.match(adopt(memory, [refold]), [wanted]);
  const window = { before: [], results: [], votesAtHorizon: new Map(), storedRanges: [], storedProbeRanges: [] };
  memory.fold.restore({ monitor: refold, window, horizonUs: refoldFromUs, toldUntilUs: toldUs, refoldFromUs });
  t.same(memory.fold.take(toldUs, true).refolded, [{ monitorId: 1, fromUs: refoldFromUs }]);
  t.same(memory.fold.take(toldUs, true).refolded, [], 'once');
  t.match(adopt(memory, [refold]), [wanted], 'asked for again');
  t.same(adopt(memory, [monitor()]), [], 'not asked for any more');
  const late = monitor({}, { refoldFromUs: toldUs + second });
  t.match(adopt(memory, [late]), [{ horizonUs: toldUs - 30 * second }], 'never less than a takeover reads');
});

t.test('what was derived anew once is not begun again by a quarantine of one of its probes', async (t) => {
  const memory = createMemory({ cursors: new Map(), probes: new Map(), mark: '1', toldUntilUs: toldUs });
  const wanted = adopt(memory, [monitor({}, { refoldFromUs: toldUs - 5_000 * second })]);
  const window = { before: [], results: [], votesAtHorizon: new Map(), storedRanges: [], storedProbeRanges: [] };
  restoreAll(memory, wanted, new Map([[1, window]]));
  t.equal(memory.fold.take(toldUs, true).refolded?.length, 1);
  const concerned = underQuarantine(memory, new Map([[3, [{ fromUs: toldUs, toUs: null }]]]));
  t.equal(concerned.length, 1);
  t.same(adopt(memory, concerned), [], 'memory is enough');
});
