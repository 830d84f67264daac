import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { errorCodes } from '@parallax/checks';
import { leakGuard } from '@parallax/testkit';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { aResult, openLog, readAll, scratchFolder } from '../testing/results.ts';
import { until } from '../testing/until.ts';
import type { ResultLog } from './log.ts';
import type { LogStream } from './stream.ts';

leakGuard(t);

const at = (seconds: number): number => seconds * 1_000_000;

const segmentsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith('segment-'))
    .sort();

/** Appends results of monitors `from`..`to` and waits until they are on disk. */
async function fill(log: ResultLog, from: number, to: number, shard = 0): Promise<void> {
  for (let monitorId = from; monitorId <= to; monitorId += 1) log.append(shard, monitorId, aResult(monitorId));
  await log.flush();
}

/** The stream of the oldest epoch. */
const firstOf = (log: ResultLog): LogStream => must(log.streams()[0]);

function must(stream: LogStream | undefined): LogStream {
  if (stream === undefined) throw new Error('there is no stream');
  return stream;
}

void t.test('results are readable after the sync, numbered without gaps for each shard', async (t) => {
  const log = await openLog(scratchFolder(t));
  t.teardown(() => log.close());
  let synced = 0;
  log.onSynced(() => {
    synced += 1;
  });
  t.equal(log.append(0, 1, aResult(1)), 1);
  t.equal(log.append(1, 1, aResult(2)), 1);
  t.equal(log.append(0, 1, aResult(3)), 2);
  const [first] = log.streams();
  t.equal(first && (await log.read(first, 1)), undefined, 'nothing is read before it is on disk');
  await log.flush();
  t.equal(synced, 1, 'one sync for all of them');
  const streams = log.streams();
  t.strictSame(
    streams.map(({ shard, synced: to }) => [shard, to]),
    [
      [0, 2],
      [1, 1],
    ],
  );
  const { results } = await readAll(log, must(streams[0]));
  t.strictSame(
    [...results.values()].map((result) => result.monitorId),
    [1, 3],
  );
});

void t.test('a restart gives back what was not acknowledged, in a new epoch', async (t) => {
  const folder = scratchFolder(t);
  const first = await openLog(folder);
  await fill(first, 1, 10);
  first.acknowledge([{ epoch: first.epoch, shard: 0, seq: 4 }]);
  await first.close();
  const second = await openLog(folder);
  t.teardown(() => second.close());
  t.ok(second.epoch > first.epoch);
  const stream = second.streams()[0];
  t.equal(stream?.epoch, first.epoch);
  const { results, lost } = await readAll(second, must(stream));
  t.strictSame(
    [...results].map(([seq, result]) => [seq, result.monitorId]),
    [5, 6, 7, 8, 9, 10].map((n) => [n, n]),
  );
  t.strictSame(lost, []);
});

void t.test('an epoch is never used again: not when the clock goes back, not when the folder is wiped', async (t) => {
  const folder = scratchFolder(t);
  const first = await openLog(folder, { wallMs: () => 2_000 });
  t.equal(first.epoch, 2_000);
  await first.close();
  const second = await openLog(folder, { wallMs: () => 1_000 });
  t.equal(second.epoch, 2_001);
  await second.close();
  const wiped = await openLog(scratchFolder(t), { wallMs: () => 3_000 });
  t.equal(wiped.epoch, 3_000);
  t.equal(wiped.openEpoch(), 3_001);
  await wiped.close();
});

void t.test('an epoch is remembered also when its segments are gone', async (t) => {
  const folder = scratchFolder(t);
  const first = await openLog(folder, { wallMs: () => 2_000 });
  await first.close();
  for (const name of segmentsIn(folder)) rmSync(path.join(folder, name));
  const second = await openLog(folder, { wallMs: () => 1_000 });
  t.equal(second.epoch, 2_001);
  await second.close();
});

void t.test('nothing is announced before it was synced to the disk', async (t) => {
  const folder = scratchFolder(t);
  const probe = await open(path.join(folder, 'probe'), 'w');
  const prototype = Object.getPrototypeOf(probe) as { datasync: () => Promise<void> };
  await probe.close();
  const { datasync } = prototype;
  let isSynced = false;
  prototype.datasync = async function (this: unknown) {
    await Reflect.apply(datasync, this, []);
    isSynced = true;
  };
  t.teardown(() => {
    prototype.datasync = datasync;
  });
  const log = await openLog(path.join(folder, 'log'));
  t.teardown(() => log.close());
  const seen: boolean[] = [];
  log.onSynced(() => seen.push(isSynced));
  for (let round = 0; round < 3; round += 1) {
    isSynced = false;
    log.append(0, 1, aResult(round + 1));
    await log.flush();
  }
  t.strictSame(seen, [true, true, true]);
});

void t.test('segments go when all of them is acknowledged', async (t) => {
  const folder = scratchFolder(t);
  const log = await openLog(folder, { limits: { segmentBytes: 2_000 } });
  t.teardown(() => log.close());
  for (let n = 1; n <= 60; n += 10) await fill(log, n, n + 9);
  t.ok(segmentsIn(folder).length > 4);
  const before = segmentsIn(folder).length;
  log.acknowledge([{ epoch: log.epoch, shard: 0, seq: 30 }]);
  await until('the segments of the first half are gone', () => segmentsIn(folder).length <= before / 2 + 1);
  t.equal((await readAll(log, firstOf(log))).results.size, 30);
  log.acknowledge([{ epoch: log.epoch, shard: 0, seq: 1_000 }]);
  await until('one segment is left', () => segmentsIn(folder).length === 1);
  t.same(log.waiting, { results: 0, oldestMs: 0 });
});

void t.test('a full log drops its oldest segment and says durably what is gone', async (t) => {
  const folder = scratchFolder(t);
  const log = await openLog(folder, { limits: { segmentBytes: 3_000, maxBytes: 9_000 } });
  for (let n = 1; n <= 200; n += 10) await fill(log, n, n + 9);
  log.acknowledge([{ epoch: log.epoch, shard: 0, seq: 2 }]);
  log.enforceLimits(undefined);
  await log.flush();
  const stream = firstOf(log);
  const now = await readAll(log, stream);
  t.ok(log.bytes <= 9_000);
  t.equal(now.lost[0]?.from, 3, 'what was acknowledged is not lost');
  const lostCount = now.lost.reduce((sum, range) => sum + range.to - range.from + 1, 0);
  t.equal(lostCount + now.results.size, 198);
  await log.close();
  const again = await openLog(folder);
  const reread = await readAll(again, firstOf(again));
  t.equal(reread.results.size, now.results.size);
  t.equal(
    reread.lost.reduce((sum, range) => sum + range.to - range.from + 1, 0),
    lostCount,
  );
  await again.close();
});

void t.test('results that are too old are dropped, by server time only', async (t) => {
  const folder = scratchFolder(t);
  const log = await openLog(folder, { limits: { segmentBytes: 2_000, maxAgeMs: 1_000 } });
  t.teardown(() => log.close());
  for (let n = 1; n <= 40; n += 10) await fill(log, n, n + 9);
  log.enforceLimits(undefined);
  await log.flush();
  t.equal((await readAll(log, firstOf(log))).lost.length, 0, 'not without a synchronised clock');
  log.enforceLimits(aResult(40).effectiveUs + 1_500_000);
  await log.flush();
  t.ok((await readAll(log, firstOf(log))).lost.length > 0);
});

void t.test(
  'what is no longer in memory is read back from the disk, and after a request for acknowledged results the rest is declared lost',
  async (t) => {
    const folder = scratchFolder(t);
    const first = await openLog(folder, { limits: { segmentBytes: 4_000 } });
    for (let n = 1; n <= 300; n += 50) await fill(first, n, n + 49, (n - 1) % 100 === 0 ? 0 : 1);
    first.acknowledge([{ epoch: first.epoch, shard: 0, seq: 60 }]);
    await first.close();
    const log = await openLog(folder);
    t.teardown(() => log.close());
    for (const stream of log.streams()) {
      const { results, lost } = await readAll(log, stream);
      t.strictSame(lost, []);
      t.equal(results.size, stream.synced - stream.acknowledged);
    }
    const [stream] = log.streams();
    const { results, lost } = await readAll(log, must(stream), 1);
    const gone = lost.reduce((sum, range) => sum + range.to - range.from + 1, 0);
    t.ok(gone > 0 && gone <= 60 && gone + results.size === 150);
  },
);

void t.test(
  'results without a synchronised clock wait, and get their times from the synchronisations around them',
  async (t) => {
    const folder = scratchFolder(t);
    const log = await openLog(folder, { monotonicUs: () => 100_000_000 });
    log.anchor({ kind: 'sync', monotonicUs: at(10), serverUs: 1_800_000_000_000_000 });
    log.append(0, at(20), aResult(1, { effectiveUs: 0 }));
    await log.flush();
    const stream = firstOf(log);
    t.equal(await log.read(stream, 1), undefined);
    log.anchor({ kind: 'sync', monotonicUs: at(30), serverUs: 1_800_000_000_000_000 + at(20) * 1.01 });
    const read = await log.read(stream, 1);
    t.equal(
      read?.results?.[0]?.effectiveUs,
      1_800_000_000_000_000 + at(10) * 1.01,
      'interpolated: the clock drifts by 1 %',
    );
    log.append(0, at(40), aResult(2, { effectiveUs: 0 }));
    await log.close();

    const sameBoot = await openLog(folder, { monotonicUs: () => 200_000_000 });
    const kept = firstOf(sameBoot);
    t.equal((await readAll(sameBoot, kept)).results.size, 1, 'the second one still waits');
    sameBoot.anchor({ kind: 'sync', monotonicUs: at(130), serverUs: 1_800_000_000_000_000 + at(120) });
    t.equal(
      (await readAll(sameBoot, kept)).results.size,
      2,
      'a synchronisation of a later run of the same boot serves it',
    );
    await sameBoot.close();

    const otherBoot = await openLog(folder, { bootId: 'boot-2' });
    const last = (await readAll(otherBoot, firstOf(otherBoot))).results;
    t.equal(last.size, 2, 'nothing more can come for an earlier boot: placed by what there is');
    t.equal(last.get(2)?.outcome, 'ok');
    await otherBoot.close();
  },
);

void t.test(
  'a log that is opened anew still knows the last synchronisation, however often nothing else is left of it',
  async (t) => {
    const folder = scratchFolder(t);
    const first = await openLog(folder);
    first.anchor({ kind: 'sync', monotonicUs: at(100), serverUs: at(5_000) });
    first.append(0, at(101), aResult(1, { effectiveUs: at(5_001.5) }));
    await first.flush();
    first.acknowledge([{ epoch: first.epoch, shard: 0, seq: 1 }]);
    await first.close();
    for (let restart = 0; restart < 2; restart += 1) await (await openLog(folder)).close();
    const last = await openLog(folder);
    t.teardown(() => last.close());
    last.append(0, at(601), aResult(2, { effectiveUs: 0 }));
    await last.flush();
    t.same((await readAll(last, firstOf(last))).results.size, 0, 'it waits');
    last.anchor({ kind: 'sync', monotonicUs: at(1_101), serverUs: at(5_001.5 + 1_010) });
    const { results } = await readAll(last, firstOf(last));
    t.equal(results.get(1)?.effectiveUs, at(5_001.5 + 505), 'between what was stamped then and what is known now');
  },
);

void t.test('a place that is not known within half an interval is the fault of the probe', async (t) => {
  const log = await openLog(scratchFolder(t));
  t.teardown(() => log.close());
  log.append(0, at(100), aResult(1, { effectiveUs: 0, freshS: 35 }));
  log.append(0, at(101), aResult(2, { effectiveUs: 0, freshS: 3_500 }));
  await log.flush();
  log.anchor({ kind: 'sync', monotonicUs: at(90), serverUs: at(5_000) });
  // Nobody knows where the 60 seconds were lost.
  log.anchor({ kind: 'sync', monotonicUs: at(110), serverUs: at(5_080) });
  const { results } = await readAll(log, firstOf(log));
  t.match(results.get(1), { outcome: 'probe_error', source: 'probe', error: errorCodes.probe_clock });
  t.match(results.get(2), { outcome: 'ok' });
});

void t.test('a result of an earlier boot that was never synchronised becomes the fault of the probe', async (t) => {
  const folder = scratchFolder(t);
  const log = await openLog(folder);
  log.append(0, 6_000_000, aResult(1, { effectiveUs: 0 }));
  await log.close();
  const later = await openLog(folder, { bootId: 'boot-2' });
  const { results } = await readAll(later, firstOf(later));
  t.match(results.get(1), {
    outcome: 'probe_error',
    source: 'probe',
    monitorId: 1,
    effectiveUs: 1_750_000_001_000_000,
  });
  await later.close();
});

void t.test('a failing disk ends the log with a message that says what to do', async (t) => {
  const folder = path.join(scratchFolder(t), 'log');
  let fatal: Error | undefined;
  const log = await openLog(folder, { limits: { segmentBytes: 1_500 }, onFatal: (error) => (fatal = error) });
  await fill(log, 1, 5);
  rmSync(folder, { recursive: true });
  log.append(0, 1, aResult(6));
  for (let n = 0; n < 20; n += 1) log.append(0, 1, aResult(7));
  await t.rejects(log.flush(), /free the disk or repair it/);
  t.match(fatal?.message, /cannot be written/);
  t.throws(() => log.append(0, 1, aResult(8)), /cannot be written/);
  await log.close().catch(() => {});
});

void t.test(
  'damage anywhere in the files: what is whole is given back, everything else is declared lost, and the log works on',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 }),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        fc.constantFrom('flip', 'cut', 'acknowledged'),
        async (groups, which, where, how) => {
          const folder = scratchFolder(t);
          const log = await openLog(folder, { limits: { segmentBytes: 2_500 } });
          let appended = 0;
          for (const size of groups) {
            await fill(log, appended + 1, appended + size);
            appended += size;
          }
          await log.close();
          const names =
            how === 'acknowledged' ? readdirSync(folder).filter((name) => name.startsWith('ack')) : segmentsIn(folder);
          const file = path.join(folder, names[Math.floor(which * names.length)] ?? '');
          const bytes = readFileSync(file);
          const at = Math.floor(where * bytes.length);
          if (how === 'cut') writeFileSync(file, bytes.subarray(0, at));
          else {
            bytes.writeUInt8((bytes[at] ?? 0) ^ 0x40, at);
            writeFileSync(file, bytes);
          }
          const again = await openLog(folder);
          const stream = again.streams()[0];
          const found = stream === undefined ? { results: new Map(), lost: [], next: 1 } : await readAll(again, stream);
          again.append(0, 1, aResult(999));
          await again.flush();
          const own = again.streams().find((each) => each.epoch === again.epoch);
          const ownFirst = own && (await readAll(again, own)).results.get(1);
          await again.close();
          const lost = found.lost.reduce((sum, range) => sum + range.to - range.from + 1, 0);
          const isRight = [...found.results].every(([seq, result]) => result.monitorId === seq);
          const isDense = found.results.size + lost === found.next - 1;
          const isWhole = how === 'acknowledged' ? found.results.size === appended : found.next - 1 <= appended;
          return isRight && isDense && isWhole && ownFirst?.monitorId === 999;
        },
      ),
      { numRuns: 60 },
    );
  },
);
