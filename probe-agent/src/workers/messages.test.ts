import type { ResultRecord } from '@parallax/wire';
import t from 'tap';
import type { PlannedChange } from '../runner/plan.ts';
import { anAssignment } from '../testing/control-plane.ts';
import { packChange, unpackChange } from './messages.ts';
import type { FromWorker } from './messages.ts';
import { ResultPacker, unpackResults } from './packed-results.ts';
import { Reporter } from './reporter.ts';

const result = (changes: Partial<ResultRecord> = {}): ResultRecord => ({
  monitorId: 5,
  effectiveUs: 123,
  probeRevision: 2,
  kind: 'scheduled',
  outcome: 'ok',
  source: undefined,
  error: 0,
  freshS: 60,
  totalUs: 1_000,
  dnsUs: 0,
  connectUs: 7,
  tlsUs: undefined,
  firstByteUs: undefined,
  transferUs: undefined,
  evidence: undefined,
  ...changes,
});

t.test('results travel unchanged and in order, also those that need more room than there was', async (t) => {
  const packer = new ResultPacker();
  const evidence = { message: 'ü'.repeat(300), json: JSON.stringify({ body: 'x'.repeat(60_000) }) };
  const handed = Array.from({ length: 300 }, (_, index) => ({
    shard: index % 3,
    monotonicUs: index * 1_000,
    urgent: index % 7 === 0,
    result: result(
      index % 50 === 0
        ? { monitorId: index + 1, outcome: 'fail', source: 'target', evidence }
        : { monitorId: index + 1 },
    ),
  }));
  for (const each of handed) packer.add(each);
  const copy = structuredClone(packer.take());
  t.strictSame([...unpackResults(copy)], handed);
  t.equal(packer.count, 0);
  t.strictSame([...unpackResults(packer.take())], []);
  t.throws(() => [...unpackResults(copy.subarray(0, 100))], /cannot be read/);
});

t.test('a change travels unchanged, and its message holds no more than it needs', async (t) => {
  const large = Buffer.alloc(100_000, 32);
  const change: PlannedChange = {
    set: ([undefined, 'at_once', 'on_phase', { withinMs: 0 }, { withinMs: 2_500.5 }] as const).map((first, index) => ({
      assignment: anAssignment({ monitorId: index + 1, settingsJson: large.subarray(0, 20), revision: 2n ** 40n }),
      first,
    })),
    removed: [7, 8],
    isPresumedGood: true,
  };
  const packed = structuredClone(packChange(change));
  t.ok(packed.set.buffer.byteLength < 2_000);
  t.strictSame(unpackChange(packed), change);
});

t.test('many results go in one message; an urgent one waits for the end of its turn only', async (t) => {
  const sent: Extract<FromWorker, { type: 'report' }>[] = [];
  const reporter = new Reporter({
    send: (message) => {
      if (message.type === 'report') sent.push(message);
    },
    inFlight: () => 3,
  });
  const add = (urgent: boolean): void => reporter.add({ shard: 0, monotonicUs: 1, result: result(), urgent });
  for (let index = 0; index < 50; index += 1) add(false);
  reporter.began(1.5);
  reporter.skipped('overrun');
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(sent.length, 0, 'nothing is urgent');
  add(true);
  t.equal(sent.length, 0);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(sent.length, 1);
  t.equal([...unpackResults(sent[0]?.results ?? new Uint8Array())].length, 51);
  t.match(sent[0], { lateMs: [1.5], skipped: { overrun: 1, overload: 0 }, inFlight: 3 });
  reporter.report();
  t.equal(sent.length, 1, 'nothing is new');
  add(false);
  reporter.stop();
  t.equal(sent.length, 2, 'the end tells what is left');
});
