/** A cell: text, a number as it is, null for an empty one. */
export type CsvCell = string | number | null;

/** What spreadsheets take for the beginning of a formula, their full-width forms included. */
const formulaStart = /^[=+\-@\t\r\n＝＋－＠]/;

/**
 * A CSV file (RFC 4180) as text: CRLF, and the same number of cells in every record. A text that a spreadsheet would take for a formula
 * gets an apostrophe before it, by which spreadsheets know it for text.
 */
export function writeCsv(records: readonly (readonly CsvCell[])[]): string {
  const width = records.reduce((most, record) => Math.max(most, record.length), 0);
  return records
    .map((record) => {
      const cells = Array.from({ length: width }, (_, index) => cellText(record[index] ?? null));
      return `${cells.join(',')}\r\n`;
    })
    .join('');
}

function cellText(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = formulaStart.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
