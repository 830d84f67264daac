import t from 'tap';
import { rowsBeforeHorizon } from '../../consensus/index.ts';
import type { MonitorInputs } from '../../consensus/index.ts';
import { adopt, createMemory, rebuildWindows, takeoverHorizon, windowOf } from './memory.ts';
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
