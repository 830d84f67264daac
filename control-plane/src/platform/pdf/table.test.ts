import t from 'tap';
import { PdfDocument } from './document.ts';
import { PageFlow } from './page-flow.ts';
import { drawTable, tableStart } from './table.ts';
import type { Table } from './table.ts';
import { drawings, readPdf, squeeze } from './testing/read-pdf.ts';

const style = { size: 8, ink: '#000000', headInk: '#444444', rule: '#cccccc', maxLines: 3 };
const information = { title: 'Table', subject: '', author: '', language: 'en', createdMs: 0 };

function table(count: number): Table {
  return {
    columns: [
      { title: 'Number', share: 1, align: 'right' },
      { title: 'Words', share: 2 },
    ],
    rows: Array.from({ length: count }, (_, index) => [
      { text: `row${index}`, mark: '#ff0000' },
      { text: `begin${index} ${'middle '.repeat(index % 7 === 0 ? 12 : 1)}end${index}` },
    ]),
    style,
  };
}

async function drawn(count: number, above = 0) {
  const document = new PdfDocument(information);
  const flow = new PageFlow(document, 10);
  flow.take(above);
  drawTable(document, flow, table(count));
  return readPdf(await document.finish());
}

t.test('the header stands on every page, every row once, in order', async (t) => {
  const { pages } = await drawn(200);
  t.ok(pages.length > 3);
  for (const { squeezed } of pages) t.match(squeezed, /^NumberWordsrow\d/);
  const rows = pages.flatMap(({ squeezed }) => [...squeezed.matchAll(/row(\d+)/g)].map(([, number]) => Number(number)));
  t.same(
    rows,
    Array.from({ length: 200 }, (_, index) => index),
  );
});

t.test('no row is torn apart', async (t) => {
  const { pages } = await drawn(200);
  for (const { squeezed } of pages) {
    const begun = [...squeezed.matchAll(/begin(\d+)/g)].map(([, number]) => number);
    const ended = [...squeezed.matchAll(/end(\d+)/g)].map(([, number]) => number);
    t.same(ended, begun);
  }
});

t.test('no row reaches into the foot of the page', async (t) => {
  const document = new PdfDocument(information);
  const flow = new PageFlow(document, 30);
  const bottom = flow.top + flow.room;
  drawTable(document, flow, table(200));
  for (const drawing of drawings(await document.finish())) {
    const baseLines = [...drawing.matchAll(/1 0 0 -1 \S+ (\S+) Tm/g)].map(([, y]) => Number(y));
    t.ok(Math.max(...baseLines) < bottom);
  }
});

t.test('a header is never alone at the end of a page', async (t) => {
  const document = new PdfDocument(information);
  const flow = new PageFlow(document, 10);
  const start = tableStart(flow, table(5));
  const { pages } = await drawn(5, flow.room - start + 1);
  t.equal(pages.length, 2);
  t.equal(pages[0]!.squeezed, '');
  t.equal((await drawn(5, flow.room - start - 1)).pages[0]!.squeezed.includes(squeeze('end0')), true);
});

t.test('a cell of any length fits: it is cut after the lines it may have', async (t) => {
  const document = new PdfDocument(information);
  const flow = new PageFlow(document, 10);
  const long = { ...table(1), rows: [[{ text: 'W'.repeat(5_000) }, { text: 'words '.repeat(1_000) }]] };
  drawTable(document, flow, long);
  const { pages } = await readPdf(await document.finish());
  t.equal(pages.length, 1);
  t.equal(pages[0]!.squeezed.match(/…/g)?.length, 2);
});

t.test('a table is tagged as one, with its headers said once', async (t) => {
  const document = new PdfDocument(information);
  drawTable(document, new PageFlow(document, 10), table(2));
  const { tags } = await readPdf(await document.finish());
  t.same(tags, ['Root', 'Document', 'Table', 'TR', 'TH', 'TH', 'TR', 'TD', 'TD', 'TR', 'TD', 'TD']);
});
