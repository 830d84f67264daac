import { inflateSync } from 'node:zlib';
import t from 'tap';
import { encodePng } from './encode-png.ts';
import { drawLines } from './line-picture.ts';

/** Chunks of a PNG file by their types. */
function chunksOf(file: Buffer): Map<string, Buffer> {
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    chunks.set(file.toString('latin1', at + 4, at + 8), file.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  return chunks;
}

void t.test('a picture is a PNG file with its very pixels', async (t) => {
  const rgb = Uint8Array.from({ length: 3 * 2 * 3 }, (_, index) => index * 7);
  const file = encodePng({ width: 3, height: 2, rgb });
  t.equal(file.toString('latin1', 1, 4), 'PNG');
  const chunks = chunksOf(file);
  t.same([...chunks.keys()], ['IHDR', 'IDAT', 'IEND']);
  t.equal(chunks.get('IHDR')?.toString('hex'), '00000003000000020802000000');
  const rows = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0));
  t.same([...rows.subarray(1, 10)], [...rgb.subarray(0, 9)]);
  t.same([...rows.subarray(11, 20)], [...rgb.subarray(9)]);
  // The check sum of an empty IEND is the same in every PNG file.
  t.equal(file.subarray(-4).toString('hex'), 'ae426082');
  t.throws(() => encodePng({ width: 4, height: 2, rgb }), RangeError);
});

void t.test('lines are drawn from point to point, broken where there is none', async (t) => {
  const picture = drawLines({
    width: 40,
    height: 20,
    background: '#ffffff',
    rules: [],
    ruleColor: '#cccccc',
    lines: [
      { points: [{ x: 0, y: 0.5 }, { x: 0.4, y: 0.5 }, null, { x: 0.9, y: 0.5 }], color: '#ff0000', thickness: 4 },
    ],
  });
  const isRed = (x: number): boolean => {
    const at = (10 * picture.width + x) * 3;
    return picture.rgb[at] === 255 && picture.rgb[at + 1] === 0;
  };
  t.ok(isRed(10), 'on the line');
  t.notOk(isRed(25), 'in the gap');
  t.ok(isRed(32), 'a point alone is a dot');
  const slanted = drawLines({
    width: 40,
    height: 20,
    background: '#ffffff',
    rules: [0.5],
    ruleColor: '#cccccc',
    lines: [
      {
        points: [
          { x: 0, y: 0 },
          { x: 1, y: 1 },
        ],
        color: '#000000',
        thickness: 2,
      },
    ],
  });
  const greys = new Set(slanted.rgb);
  t.ok(greys.size > 5, `${greys.size} greys: its edges are smooth`);
  t.ok(greys.has(0xcc), 'and the rule is there');
});
