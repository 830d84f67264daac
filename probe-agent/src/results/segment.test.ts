import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { aResult } from '../testing/results.ts';
import { nothingAcknowledged } from './acknowledged.ts';
import { encodeAnchor, encodeLostRecord, readResult, recordHeadBytes, sizeOfResult, writeResult } from './record.ts';
import type { LoggedResult } from './record.ts';
import { recoverStreams } from './recovery.ts';
import { encodeHeader, headerBytes, scanSegment } from './segment.ts';

const salt = 0x1234_5678;
const header = { epoch: 9, index: 1, salt, bootId: 'boot', openedMonotonicUs: 0, openedWallMs: 1_750_000_000_000 };

type Built = {
  readonly bytes: Buffer;
  readonly records: { readonly logged: LoggedResult; readonly start: number; readonly end: number }[];
};

/** A segment with these results, as the log writes it. */
function build(results: readonly { shard: number; evidence: string | undefined }[]): Built {
  const parts: Buffer[] = [encodeHeader(header), encodeAnchor({ kind: 'sync', monotonicUs: 1, serverUs: 2 }, salt)];
  let at = parts.reduce((sum, part) => sum + part.length, 0);
  const next = new Map<number, number>();
  const records: Built['records'] = [];
  results.forEach(({ shard, evidence }, index) => {
    const seq = (next.get(shard) ?? 0) + 1;
    next.set(shard, seq);
    const result = aResult(
      index + 1,
      evidence === undefined
        ? {}
        : { outcome: 'fail', source: 'target', error: 20, evidence: { message: 'refused', json: evidence } },
    );
    const logged = { shard, seq, monotonicUs: index, result };
    const buffer = Buffer.alloc(sizeOfResult(result));
    writeResult(buffer, 0, logged, salt);
    parts.push(buffer);
    records.push({ logged, start: at, end: at + buffer.length });
    at += buffer.length;
  });
  return { bytes: Buffer.concat(parts), records };
}

const resultsArbitrary = fc.array(
  fc.record({
    shard: fc.integer({ min: 0, max: 2 }),
    evidence: fc.option(fc.string({ maxLength: 300 }), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 60 },
);

/** What recovery finds: by shard, the numbers that are there and those that are lost. */
function recover(bytes: Buffer) {
  const scanned = scanSegment(bytes);
  if (scanned === undefined) return undefined;
  const { streams } = recoverStreams([scanned], nothingAcknowledged);
  const found = new Set<string>();
  for (const extent of scanned.extents)
    for (let seq = extent.firstSeq; seq <= extent.lastSeq; seq += 1) found.add(`${extent.shard}/${seq}`);
  const lost = new Set<string>();
  for (const stream of streams)
    for (const range of stream.lost)
      for (let seq = range.fromSeq; seq <= range.toSeq; seq += 1) lost.add(`${stream.shard}/${seq}`);
  return { scanned, streams, found, lost };
}

const keyOf = ({ logged }: { logged: LoggedResult }): string => `${logged.shard}/${logged.seq}`;

void t.test('a record comes back as it was written', (t) => {
  fc.assert(
    fc.property(resultsArbitrary, (results) => {
      const { bytes, records } = build(results);
      for (const { logged, start, end } of records) t.matchOnly(readResult(bytes, start, end), logged);
    }),
    { numRuns: 20 },
  );
  t.end();
});

void t.test('after a cut anywhere everything before it is recovered and nothing is invented', (t) => {
  fc.assert(
    fc.property(resultsArbitrary, fc.double({ min: 0, max: 1, noNaN: true }), (results, share) => {
      const { bytes, records } = build(results);
      const cut = headerBytes + Math.floor(share * (bytes.length - headerBytes));
      const recovered = recover(bytes.subarray(0, cut));
      const whole = new Set(records.filter((record) => record.end <= cut).map(keyOf));
      return recovered !== undefined && recovered.lost.size === 0 && setsEqual(recovered.found, whole);
    }),
    { numRuns: 500 },
  );
  t.end();
});

void t.test(
  'after a flipped bit every other record is recovered, and the damaged one is counted as lost unless nothing follows it',
  (t) => {
    fc.assert(
      fc.property(
        resultsArbitrary,
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        fc.integer({ min: 0, max: 7 }),
        (results, share, bit) => {
          const { bytes, records } = build(results);
          const at = Math.floor(share * bytes.length);
          const damaged = Buffer.from(bytes);
          damaged.writeUInt8((damaged[at] ?? 0) ^ (1 << bit), at);
          const recovered = recover(damaged);
          if (recovered === undefined) return false;
          const hit = records.find((record) => record.start <= at && at < record.end);
          const others = new Set(records.filter((record) => record !== hit).map(keyOf));
          if (!setsEqual(recovered.found, others)) return false;
          if (hit === undefined) return recovered.lost.size === 0;
          const isLast = !records.some(
            (record) => record.logged.shard === hit.logged.shard && record.logged.seq > hit.logged.seq,
          );
          const counted = recovered.scanned.damagedPlaces > 0 || recovered.scanned.tornBytes > 0;
          return counted && setsEqual(recovered.lost, new Set(isLast ? [] : [keyOf(hit)]));
        },
      ),
      { numRuns: 1_000 },
    );
    t.end();
  },
);

void t.test('after a stretch of zeros the records around it are recovered and those between are lost', (t) => {
  fc.assert(
    fc.property(resultsArbitrary, fc.nat(4_000), fc.integer({ min: 1, max: 600 }), (results, offset, length) => {
      const { bytes, records } = build(results);
      const from = headerBytes + (offset % (bytes.length - headerBytes));
      const to = Math.min(bytes.length, from + length);
      const damaged = Buffer.from(bytes).fill(0, from, to);
      const recovered = recover(damaged);
      const hurt = records.filter(
        (record) =>
          record.start < to &&
          record.end > from &&
          !damaged.subarray(record.start, record.end).equals(bytes.subarray(record.start, record.end)),
      );
      const whole = records.filter((record) => !hurt.includes(record));
      const lost = hurt.filter((each) =>
        whole.some((other) => other.logged.shard === each.logged.shard && other.logged.seq > each.logged.seq),
      );
      return (
        recovered !== undefined &&
        setsEqual(recovered.found, new Set(whole.map(keyOf))) &&
        setsEqual(recovered.lost, new Set(lost.map(keyOf)))
      );
    }),
    { numRuns: 500 },
  );
  t.end();
});

void t.test(
  'bytes that a target made us store never pass for a record, also when the record around them is damaged',
  (t) => {
    const forged = aResult(66);
    const inner = Buffer.alloc(sizeOfResult(forged));
    writeResult(inner, 0, { shard: 0, seq: 3, monotonicUs: 0, result: forged }, 1);
    const { bytes, records } = build([
      { shard: 0, evidence: undefined },
      { shard: 0, evidence: 'x'.repeat(inner.length) },
    ]);
    const second = records[1];
    inner.copy(bytes, (second?.end ?? 0) - inner.length);
    const recovered = recover(bytes);
    t.strictSame([...(recovered?.found ?? [])], ['0/1']);
    t.end();
  },
);

void t.test('a segment without any whole header cannot be read; one whole copy is enough', (t) => {
  const { bytes } = build([{ shard: 0, evidence: undefined }]);
  const once = Buffer.from(bytes).fill(0, 0, 512);
  t.equal(recover(once)?.found.size, 1);
  t.equal(recover(Buffer.from(bytes).fill(0, 0, 1_024)), undefined);
  t.end();
});

void t.test(
  'a recorded loss joins what is missing around it, and a result that is there counts more than a record of its loss',
  (t) => {
    const { bytes } = build([
      { shard: 0, evidence: undefined },
      { shard: 0, evidence: undefined },
    ]);
    const lost = encodeLostRecord({ epoch: 9, shard: 0, fromSeq: 2, toSeq: 6, fromUs: 10, toUs: 20 }, salt);
    const recovered = recover(Buffer.concat([bytes, lost]));
    t.match(recovered?.streams, [
      { epoch: 9, shard: 0, acknowledged: 0, lastSeq: 6, lost: [{ fromSeq: 3, toSeq: 6, fromUs: 10, toUs: 20 }] },
    ]);
    t.ok(lost.length > recordHeadBytes);
    t.end();
  },
);

function setsEqual(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((each) => b.has(each));
}
