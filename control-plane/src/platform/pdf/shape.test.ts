import t from 'tap';
import { shape } from './shape.ts';

t.test('what a font lacks is left out rather than drawn as a box', async (t) => {
  const { glyphs, width } = shape('a漢b', 'sans', 'regular', 'ltr');
  t.same(
    glyphs.map(({ codePoints }) => codePoints),
    [[0x61], [0x62]],
  );
  t.equal(
    width,
    glyphs.reduce((sum, { advance }) => sum + advance, 0),
  );
  t.same(
    shape('a漢b', 'sans', 'regular', 'rtl').glyphs.map(({ codePoints }) => codePoints),
    [[0x62], [0x61]],
  );
});

t.test('lengths are in thousandths of the size, whatever units the font counts in', async (t) => {
  const [sans] = shape('0', 'sans', 'regular', 'ltr').glyphs;
  const [japanese] = shape('あ', 'japanese', 'regular', 'ltr').glyphs;
  t.equal(sans!.advance, 572);
  t.ok(japanese!.advance > 700 && japanese!.advance <= 1_000);
});
