import bidiFactory from 'bidi-js';
import type { Bidi } from 'bidi-js';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { cleanText, isolated } from './clean-text.ts';
import { setParagraph } from './paragraph.ts';
import type { Line, Paragraph, ParagraphOptions, TextStyle } from './paragraph.ts';

const style: TextStyle = { size: 10, weight: 'regular', leading: 1.4 };
const wide: ParagraphOptions = { width: 100_000 };

/** What stands on a line, from left to right. */
function onPaper({ runs }: Line): string {
  return runs
    .flatMap(({ glyphs }) => glyphs.flatMap(({ codePoints }) => codePoints.map((code) => String.fromCodePoint(code))))
    .join('');
}

function glyphsOf(paragraph: Paragraph) {
  return paragraph.lines.flatMap(({ runs }) => runs.flatMap(({ glyphs }) => glyphs));
}

function oneLine(text: string, options: Partial<ParagraphOptions> = {}): string {
  return onPaper(setParagraph(text, style, { ...wide, ...options }).lines[0]!);
}

const scripts = {
  Latin: 'Łódź, Việt Nam, naïve Ægir – “quotes” … 5 €',
  Cyrillic: 'Главный сервер, Київ, Қазақстан ₽',
  Greek: 'Κύριος διακομιστής, Ἀθῆναι',
  Arabic: 'الخادم الرئيسي رقم ١٢٣، مُحَمَّد',
  Persian: 'می‌خواهم پاکستان گچ',
  Hebrew: 'שרת ראשי, שָׁלוֹם',
  Chinese: '北京主服务器（生产），監控',
  Japanese: '東京サーバー「監視」、ひらがな',
  Korean: '서울 모니터링 서버',
  Thai: 'เซิร์ฟเวอร์หลักที่กรุงเทพ น้ำ กู้',
  Devanagari: 'मुख्य सर्वर क्षत्रिय हिन्दी',
  Armenian: 'Հիմնական սերվեր',
  Georgian: 'მთავარი სერვერი',
  Emoji: '👩‍💻 👨‍👩‍👧‍👦 🇩🇪 🇽🇽 ❤️ 👍🏽 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏳️‍🌈 ☎ 🛒',
  Symbols: '→ ✓ ★ ≤ ½ № ™ ① ♥',
  Tamil: 'தமிழ்',
  Amharic: 'አማርኛ',
  Mixed: 'Привет مرحبا 北京 שלום 🚀 สวัสดี ok',
};

for (const weight of ['regular', 'bold'] as const) {
  t.test(`no glyph is missing in any script, ${weight}`, async (t) => {
    for (const [script, text] of Object.entries(scripts)) {
      const glyphs = glyphsOf(setParagraph(cleanText(text), { ...style, weight }, { ...wide, base: 'auto' }));
      t.ok(glyphs.length > 0, script);
      t.notOk(
        glyphs.some(({ id }) => id === 0),
        script,
      );
      t.notOk(
        glyphs.some(({ codePoints }) => codePoints.includes(0xfffd)),
        `${script}: nothing was replaced`,
      );
    }
  });
}

t.test('no text whatever has a missing glyph, is wider than asked, or throws', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    // Letters and marks of scripts with rules, in orders that no language has.
    fc.array(fc.integer({ min: 0x590, max: 0x1100 }), { maxLength: 60 }).map((codes) => String.fromCodePoint(...codes)),
  );
  fc.assert(
    fc.property(text, fc.integer({ min: 20, max: 200 }), fc.constantFrom('ltr', 'rtl', 'auto'), (raw, width, base) => {
      const paragraph = setParagraph(cleanText(raw), style, { width, base, maxLines: 3 });
      const isFine = paragraph.lines.every(
        (line) => line.width <= width || onPaper(line).length <= 2 || line.runs.length === 1,
      );
      return isFine && glyphsOf(paragraph).every(({ id, advance }) => id !== 0 && Number.isFinite(advance));
    }),
  );
});

t.test('Hebrew and Arabic run from right to left; numbers and Latin in them do not', async (t) => {
  t.equal(oneLine('שלום abc'), 'םולש abc', 'the line itself is from left to right');
  t.equal(oneLine('שלום abc', { base: 'auto' }), 'abc םולש');
  t.equal(oneLine('מחיר 123 שקל', { base: 'auto' }), 'לקש 123 ריחמ');
  t.equal(oneLine('خادم api-v2 رقم', { base: 'auto' }), 'مقر api-v2 مداخ');
  t.equal(oneLine('رقم ١٢٣', { base: 'auto' }), '١٢٣ مقر', 'Arabic digits keep their order too');
});

t.test('brackets open in the direction of their text', async (t) => {
  t.equal(oneLine('שרת (ראשי)', { base: 'auto' }), '(ישאר) תרש');
  t.equal(oneLine('שרת (api)', { base: 'auto' }), '(api) תרש');
});

t.test('the order on paper is that of UAX #9', async () => {
  const bidi = (bidiFactory as unknown as () => Bidi)();
  const text = fc
    .array(fc.constantFrom(...Array.from('אבגדהabcXYZ0123456789 .,:-/()[]%+')), {
      minLength: 1,
      maxLength: 30,
    })
    .map((characters) => cleanText(characters.join('')))
    .filter((clean) => clean !== '');
  fc.assert(
    fc.property(text, fc.constantFrom('ltr', 'rtl', 'auto'), (line, base) => {
      const levels = bidi.getEmbeddingLevels(line, base);
      return oneLine(line, { base }) === bidi.getReorderedString(line, levels);
    }),
  );
});

t.test('a name from right to left does not turn the sentence around it', async (t) => {
  const date = '2026-03-05 10:00';
  t.equal(oneLine(`${isolated('שרת 12')}, ${date}`), `12 תרש, ${date}`);
  t.not(oneLine(`${cleanText('שרת 12')}, ${date}`), `12 תרש, ${date}`, 'without the isolate it would');
});

t.test('an override cannot turn an address around', async (t) => {
  t.equal(oneLine(cleanText('https://example.com/\u202Emoc.knab')), 'https://example.com/moc.knab');
});

t.test('Arabic letters join', async (t) => {
  const [alone] = glyphsOf(setParagraph('ع', style, { ...wide, base: 'auto' }));
  const joined = glyphsOf(setParagraph('ععع', style, { ...wide, base: 'auto' }));
  t.equal(
    new Set([alone, ...joined].map((glyph) => glyph!.id)).size,
    4,
    'isolated, initial, medial and final are four shapes',
  );
});

t.test('a letter and its marks, a family and a flag are one glyph each or stand on one place', async (t) => {
  for (const sequence of ['👨‍👩‍👧‍👦', '🇩🇪', '🏳️‍🌈', '1️⃣']) {
    const glyphs = glyphsOf(setParagraph(sequence, style, wide)).filter(({ advance }) => advance > 0);
    t.equal(glyphs.length, 1, sequence);
  }
  const pointed = glyphsOf(setParagraph('שָׁ', style, { ...wide, base: 'auto' }));
  t.equal(pointed.filter(({ advance }) => advance > 0).length, 1);
});

t.test('a ligature from right to left stands for its letters as they are on paper', async (t) => {
  t.equal(oneLine('سلام', { base: 'auto' }), 'مالس');
  const [, ligature] = glyphsOf(setParagraph('سلام', style, { ...wide, base: 'auto' }));
  t.equal(ligature!.codePoints.length, 2, 'lam and alef are one');
});

t.test('a sign is an emoji when it asks to be', async (t) => {
  const faceOf = (text: string): string => setParagraph(text, style, wide).lines[0]!.runs[0]!.face.key;
  t.equal(faceOf('©'), 'sans-regular');
  t.equal(faceOf('©️'), 'emoji-regular');
  t.equal(faceOf('🛒'), 'emoji-regular');
});

t.test('kana tell that ideographs are Japanese', async (t) => {
  const faceOf = (text: string): string => setParagraph(text, style, wide).lines[0]!.runs[0]!.face.key;
  t.equal(faceOf('直'), 'chinese-regular');
  t.equal(faceOf('直す'), 'japanese-regular');
});

t.test('lines are no wider than asked and nothing is lost', async (t) => {
  const text =
    'The quick brown fox jumps over the lazy dog, again and again; https://example.com/a/very/long/path?with=query';
  const paragraph = setParagraph(text, style, { width: 90 });
  t.ok(paragraph.lines.length > 4);
  t.ok(paragraph.lines.every(({ width }) => width <= 90));
  t.equal(paragraph.lines.map(onPaper).join('').replaceAll(' ', ''), text.replaceAll(' ', ''));
  t.notOk(paragraph.isCut);
  t.equal(paragraph.height, paragraph.lines.length * 14);
});

t.test('a word that is wider than the line is broken between characters', async (t) => {
  const word = 'W'.repeat(200);
  const paragraph = setParagraph(word, style, { width: 100 });
  t.ok(paragraph.lines.every(({ width }) => width <= 100));
  t.equal(paragraph.lines.map(onPaper).join(''), word);
  t.ok(paragraph.lines[0]!.width > 85, 'and fills it');
});

t.test('what does not fit is cut with an ellipsis', async (t) => {
  const paragraph = setParagraph('one two three four five six seven eight', style, { width: 60, maxLines: 2 });
  t.equal(paragraph.lines.length, 2);
  t.ok(paragraph.isCut);
  t.match(onPaper(paragraph.lines[1]!), /…$/);
  t.ok(paragraph.lines.every(({ width }) => width <= 60));
  const arabic = setParagraph('خادم الويب الرئيسي في المدينة', style, { width: 60, maxLines: 1, base: 'auto' });
  t.match(onPaper(arabic.lines[0]!), /^…/, 'on the left where lines end there');
  t.equal(
    onPaper(setParagraph('W', style, { width: 1, maxLines: 1 }).lines[0]!),
    'W',
    'a line holds one character at least',
  );
});

t.test('Thai is broken between words, Chinese between characters, never before closing punctuation', async (t) => {
  const thai = setParagraph('เซิร์ฟเวอร์หลักที่กรุงเทพมหานคร', style, { width: 80 });
  const words = [...new Intl.Segmenter('th', { granularity: 'word' }).segment('เซิร์ฟเวอร์หลักที่กรุงเทพมหานคร')];
  const starts = new Set(words.map(({ index }) => index));
  let at = 0;
  for (const line of thai.lines) {
    t.ok(starts.has(at));
    at += line.readAs!.length;
  }
  const chinese = setParagraph('服务器监控。服务器监控。服务器监控。', style, { width: 51 });
  t.ok(chinese.lines.length > 2);
  t.notOk(chinese.lines.some((line) => onPaper(line).startsWith('。')));
});

t.test('what glyphs do not tell is said beside them', async (t) => {
  t.equal(setParagraph('plain', style, wide).lines[0]!.readAs, undefined);
  t.equal(setParagraph('हिन्दी', style, wide).lines[0]!.readAs, 'हिन्दी');
  const hebrew = setParagraph(isolated('שלום abc'), style, wide);
  t.equal(hebrew.lines[0]!.readAs, undefined);
  t.equal(hebrew.readAs, 'שלום abc');
});

t.test('empty text is one empty line', async (t) => {
  const paragraph = setParagraph('', style, { width: 50, maxLines: 2 });
  t.equal(paragraph.lines.length, 1);
  t.equal(paragraph.width, 0);
  t.notOk(paragraph.isCut);
});
