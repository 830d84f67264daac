import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { create } from 'fontkit';
import type { Font } from 'fontkit';
import t from 'tap';
import { unpackedFont } from './woff.ts';

const { resolve } = createRequire(import.meta.url);
const packed = readFileSync(resolve('@fontsource/unifontex/files/unifontex-latin-400-normal.woff'));
const plain = readFileSync(resolve('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf'));

t.test('an unpacked font is the font that was packed', async (t) => {
  const before = create(packed) as Font;
  const after = create(unpackedFont(packed)) as Font;
  t.equal(after.type, 'TTF');
  t.equal(after.numGlyphs, before.numGlyphs);
  for (const text of ['A', 'Ж', '漢', 'ⴰ']) {
    const [old] = before.glyphsForString(text);
    const [now] = after.glyphsForString(text);
    t.equal(now!.id, old!.id);
    t.equal(now!.path.toSVG(), old!.path.toSVG(), text);
  }
});

t.test('tables lie at whole words, as the format demands', async (t) => {
  const font = unpackedFont(packed);
  const offsets = Array.from({ length: font.readUInt16BE(4) }, (_, index) => font.readUInt32BE(12 + 16 * index + 8));
  t.ok(offsets.length > 5);
  t.ok(offsets.every((offset) => offset % 4 === 0));
});

t.test('a font that is not packed stays as it is', async (t) => {
  t.equal(unpackedFont(plain), plain);
});
