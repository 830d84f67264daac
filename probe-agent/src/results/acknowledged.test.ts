import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { scratchFolder } from '../testing/results.ts';
import { AcknowledgedFile, decodeSlot, encodeSlot, nothingAcknowledged } from './acknowledged.ts';

const vector = (seq: number) => ({ highestEpoch: 9, positions: [{ epoch: 9, shard: 1, seq }] });

void t.test('a slot comes back as it was written, also with the rest of an older, longer one behind it', (t) => {
  const position = fc.record({ epoch: fc.nat(), shard: fc.nat(65_535), seq: fc.nat() });
  fc.assert(
    fc.property(
      fc.nat(),
      fc.nat(),
      fc.array(position),
      fc.uint8Array(),
      (generation, highestEpoch, positions, rest) => {
        const bytes = Buffer.concat([encodeSlot(generation, { highestEpoch, positions }), rest]);
        const slot = decodeSlot(bytes);
        t.matchOnlyStrict(slot, { generation, vector: { highestEpoch, positions } });
      },
    ),
    { numRuns: 50 },
  );
  t.end();
});

void t.test('a damaged slot is none', (t) => {
  const bytes = encodeSlot(3, vector(5));
  for (let at = 0; at < bytes.length; at += 1) {
    const damaged = Buffer.from(bytes);
    damaged.writeUInt8((damaged[at] ?? 0) ^ 1, at);
    t.equal(decodeSlot(damaged), undefined);
    t.equal(decodeSlot(bytes.subarray(0, at)), undefined);
  }
  t.end();
});

void t.test('whichever write is cut off, the one before it is left', async (t) => {
  const folder = scratchFolder(t);
  const empty = await AcknowledgedFile.open(folder);
  t.same(empty.vector, nothingAcknowledged);
  for (let seq = 1; seq <= 4; seq += 1) {
    const { file } = await AcknowledgedFile.open(folder);
    await file.write(vector(seq));
    await file.write(vector(seq + 100));
    const newest = ['acknowledged.0', 'acknowledged.1']
      .map((name) => path.join(folder, name))
      .find((name) => decodeSlot(readFileSync(name))?.vector.positions[0]?.seq === seq + 100);
    writeFileSync(newest ?? '', Buffer.alloc(10));
    t.same((await AcknowledgedFile.open(folder)).vector, vector(seq));
  }
});
