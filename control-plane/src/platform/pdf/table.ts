import type { PdfDocument } from './document.ts';
import type { Weight } from './faces.ts';
import type { PageFlow } from './page-flow.ts';
import { setParagraph } from './paragraph.ts';
import type { Paragraph } from './paragraph.ts';
import type { BaseDirection } from './text-runs.ts';

export type Column = {
  readonly title: string;
  /** Of the table's width, relative to the other columns. */
  readonly share: number;
  readonly align?: 'left' | 'right';
};

/** Clean text, see `cleanText`. */
export type Cell = {
  readonly text: string;
  readonly color?: string;
  readonly weight?: Weight;
  readonly base?: BaseDirection;
  /** A square of this colour before the text. */
  readonly mark?: string;
};

export type TableStyle = {
  /** Points. */
  readonly size: number;
  readonly ink: string;
  readonly headInk: string;
  readonly rule: string;
  /** Lines of a cell; the rest is cut with an ellipsis, so that a row always fits on a page. */
  readonly maxLines: number;
};

export type Table = {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  readonly style: TableStyle;
};

const padding = { side: 4, top: 3.5 };
const leading = 1.3;
const markSize = 5;
const markGap = 4;

/** Height of the header and the first row: what must stand together, points. */
export function tableStart(flow: PageFlow, { columns, rows, style }: Table): number {
  const grid = gridOf(flow, columns);
  const first = rows[0];
  return setHeader(columns, grid, style).height + (first === undefined ? 0 : setRow(first, grid, style).height);
}

/** Draws a table over as many pages as it takes. Its header stands on each, and no row is torn apart. */
export function drawTable(document: PdfDocument, flow: PageFlow, table: Table): void {
  const { columns, rows, style } = table;
  const grid = gridOf(flow, columns);
  const header = setHeader(columns, grid, style);
  flow.ensure(tableStart(flow, table));
  document.group('Table', () => {
    document.group('TR', () => drawRow(document, flow, header, grid, style, 'TH'));
    ruleBelow(document, flow, style.headInk, 0.8);
    for (const cells of rows) {
      const row = setRow(cells, grid, style);
      if (flow.room < row.height) {
        flow.newPage();
        // Said once to those who listen.
        document.artifact(() => drawCells(document, flow.take(header.height), header, grid, style), 'Pagination');
        ruleBelow(document, flow, style.headInk, 0.8);
      }
      document.group('TR', () => drawRow(document, flow, row, grid, style, 'TD'));
      ruleBelow(document, flow, style.rule, 0.5);
    }
  });
}

type GridColumn = { left: number; width: number; align: 'left' | 'right' };
type SetCell = { paragraph: Paragraph; cell: Cell };
type SetRow = { cells: readonly SetCell[]; height: number };

function gridOf(flow: PageFlow, columns: readonly Column[]): GridColumn[] {
  const shares = columns.reduce((sum, { share }) => sum + share, 0);
  let left = flow.left;
  return columns.map(({ share, align = 'left' }) => {
    const width = (flow.width * share) / shares;
    const column = { left: left + padding.side, width: width - 2 * padding.side, align };
    left += width;
    return column;
  });
}

function setHeader(columns: readonly Column[], grid: readonly GridColumn[], style: TableStyle): SetRow {
  const cells = columns.map(({ title }) => ({ text: title, color: style.headInk, weight: 'bold' as const }));
  return setRow(cells, grid, { ...style, size: style.size - 0.5 });
}

function setRow(cells: readonly Cell[], grid: readonly GridColumn[], style: TableStyle): SetRow {
  const set = cells.map((cell, index) => {
    const indent = cell.mark === undefined ? 0 : markSize + markGap;
    const paragraph = setParagraph(
      cell.text,
      { size: style.size, weight: cell.weight ?? 'regular', leading },
      { width: grid[index]!.width - indent, maxLines: style.maxLines, base: cell.base ?? 'ltr' },
    );
    return { paragraph, cell };
  });
  return { cells: set, height: Math.max(...set.map(({ paragraph }) => paragraph.height)) + 2 * padding.top };
}

function drawRow(
  document: PdfDocument,
  flow: PageFlow,
  row: SetRow,
  grid: readonly GridColumn[],
  style: TableStyle,
  tag: 'TH' | 'TD',
): void {
  const top = flow.take(row.height);
  row.cells.forEach((cell, index) =>
    document.leaf(tag, () => drawCell(document, top, cell, grid[index]!, style), {
      actual: cell.paragraph.readAs,
      ...(tag === 'TH' && { scope: 'Column' as const }),
    }),
  );
}

function drawCells(
  document: PdfDocument,
  top: number,
  row: SetRow,
  grid: readonly GridColumn[],
  style: TableStyle,
): void {
  row.cells.forEach((cell, index) => drawCell(document, top, cell, grid[index]!, style));
}

function drawCell(
  document: PdfDocument,
  top: number,
  { paragraph, cell }: SetCell,
  { left, width, align }: GridColumn,
  style: TableStyle,
): void {
  const indent = cell.mark === undefined ? 0 : markSize + markGap;
  if (cell.mark !== undefined) {
    const middle = top + padding.top + lineHeight(style) / 2;
    document.canvas.rect(left, middle - markSize / 2, markSize, markSize).fill(cell.mark);
  }
  document.text(paragraph, {
    x: left + indent,
    top: top + padding.top,
    width: width - indent,
    ...(align === 'right' && { align }),
    color: cell.color ?? style.ink,
  });
}

function ruleBelow(document: PdfDocument, flow: PageFlow, color: string, thickness: number): void {
  document.artifact(() =>
    document.canvas
      .moveTo(flow.left, flow.top)
      .lineTo(flow.left + flow.width, flow.top)
      .lineWidth(thickness)
      .stroke(color),
  );
}

function lineHeight(style: TableStyle): number {
  return style.size * leading;
}
