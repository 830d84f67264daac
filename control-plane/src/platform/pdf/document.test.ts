import t from 'tap';
import { isolated } from './clean-text.ts';
import { a4, PdfDocument } from './document.ts';
import { face } from './faces.ts';
import { writeLine } from './glyph-writer.ts';
import type { DocumentInformation } from './information-xml.ts';
import { setParagraph } from './paragraph.ts';
import { drawings, readPdf, shownGlyphs } from './testing/read-pdf.ts';

const style = { size: 10, weight: 'regular', leading: 1.4 } as const;
const information: DocumentInformation = {
  title: 'Shop <b>&"\'</b>',
  subject: 'Доступность',
  author: 'متجر',
  language: 'en',
  createdMs: Date.UTC(2026, 2, 1, 12, 30, 5),
};

function line(document: PdfDocument, text: string, top: number): void {
  document.textLeaf('P', setParagraph(text, style, { width: 400 }), { x: 50, top, color: '#112233' });
}

async function sample(): Promise<Buffer> {
  const document = new PdfDocument(information);
  document.group('Sect', () => {
    document.bookmark('First');
    line(document, 'Hello, мир', 60);
    line(document, isolated('שלום abc'), 80);
  });
  document.addPage();
  document.bookmark('Second');
  line(document, 'More', 60);
  document.onEveryPage((page, pages) =>
    document.text(setParagraph(`${page}/${pages}`, style, { width: 50 }), { x: 50, top: 800, color: '#000000' }),
  );
  return document.finish();
}

t.test('a document can be read by others and says what it is', async (t) => {
  const pdf = await readPdf(await sample());
  t.same(
    pdf.pages.map(({ squeezed }) => squeezed),
    ['Hello,мирabcשלום1/2', 'More2/2'],
  );
  t.equal(pdf.information['Title'], information.title);
  t.equal(pdf.information['Subject'], information.subject);
  t.equal(pdf.information['Author'], information.author);
  t.equal(pdf.information['CreationDate'], 'D:20260301123005Z');
  t.equal(pdf.information['Language'], 'en');
  t.equal(pdf.metadata.get('dc:title'), information.title, 'markup in a title stays text');
  t.same(pdf.bookmarks, ['First', 'Second']);
});

t.test('a document is tagged, and what says nothing is an artifact', async (t) => {
  const file = await sample();
  const pdf = await readPdf(file);
  t.ok(pdf.isTagged);
  t.same(pdf.tags, ['Root', 'Document', 'Sect', 'P', 'P']);
  for (const drawing of drawings(file)) {
    let depth = 0;
    for (const instruction of drawing.split('\n')) {
      if (/B(DC|MC)$/.test(instruction)) depth += 1;
      if (instruction === 'EMC') depth -= 1;
      if (/(TJ|\b[fS])$/.test(instruction)) t.ok(depth > 0, 'everything that is drawn is one or the other');
    }
    t.equal(depth, 0);
  }
});

t.test('equal calls make equal bytes', async (t) => {
  t.ok((await sample()).equals(await sample()));
});

t.test('text from right to left is told in the order of reading', async (t) => {
  const file = (await sample()).toString('latin1');
  const told = /\/ActualText \(\xFE\xFF((?:\\[\s\S]|[^\\)])*)\)/.exec(file)?.[1];
  const bytes = Buffer.from(told ?? '', 'latin1').swap16();
  t.equal(bytes.toString('utf16le'), 'שלום abc');
});

t.test('a comment after the end mark does no harm', async (t) => {
  const file = Buffer.concat([await sample(), Buffer.from(`%parallax-${'x'.repeat(500)}\n`)]);
  t.equal((await readPdf(file)).pages.length, 2);
});

t.test('the box for a missing glyph cannot be written', async (t) => {
  t.notOk(shownGlyphs(await sample()).includes(0));
  const document = new PdfDocument(information);
  const glyph = { id: 0, width: 600, advance: 600, right: 0, up: 0, codePoints: [0x41] };
  const run = { face: face('sans', 'regular'), glyphs: [glyph], width: 600 };
  t.throws(
    () => writeLine(document.canvas, { runs: [run], width: 6, readAs: undefined }, 10, 0, 0),
    /a glyph is missing/,
  );
});

t.test('several lines from right to left begin at the right, others at the left', async (t) => {
  const left = async (text: string): Promise<number[]> => {
    const document = new PdfDocument(information);
    const paragraph = setParagraph(text, style, { width: 60, base: 'auto' });
    document.textLeaf('P', paragraph, { x: 100, top: 50, width: 60, color: '#000000' });
    const [drawing] = drawings(await document.finish());
    return [...drawing!.matchAll(/1 0 0 -1 (\S+) \S+ Tm/g)].map(([, x]) => Number(x));
  };
  t.ok((await left('one two three four')).every((x) => x === 100));
  t.ok((await left('אחת שתיים שלוש ארבע חמש')).some((x) => x > 100));
  t.same(await left('אחת'), [100], 'one line stays in its column');
});

t.test('pages are A4', async (t) => {
  const file = await sample();
  t.match(file.toString('latin1'), `/MediaBox [0 0 ${a4.width} ${a4.height}]`);
});
