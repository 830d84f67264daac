import { importLimits, invalidInput } from '@parallax/api-contract';
import type { InputErrorCode } from '@parallax/api-contract';
import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';
import { delimiterOf } from './delimiter.ts';
import { withoutNeutraliser } from './formulas.ts';

/** What a row has in its cells that are not empty, by folded column name; blanks as they are. */
export type Cells = ReadonlyMap<string, string>;

/** A file as rows. `tooLong` are rows with more cells than the header. */
export type Table = {
  readonly columns: ReadonlySet<string>;
  readonly rows: readonly { readonly cells: Cells; readonly tooLong: boolean }[];
};

/** Files of monitoring tools have some sixty; with a bound a header of a megabyte is no table of half a million columns. */
const maxColumns = 300;
const recordsSchema = z.array(z.array(z.string()));

/** A column name as it is compared: lower case, with spaces, underscores, slashes, hyphens and brackets folded. */
export function foldName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_/\-().]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
}

/**
 * Reads CSV (RFC 4180) with any of the line ends and with comma, semicolon or tab. Empty lines and lines of empty cells are no rows.
 * @throws Problem `invalid_input` for quotes that do not close, a header that names a column twice, no rows, or too many
 */
export function readTable(text: string): Table {
  const [header, ...records] = recordsOf(text);
  if (header === undefined) throw fault('file_empty', 'the file is empty');
  const columns = columnsOf(header);
  if (records.length === 0) throw fault('no_rows', 'below the header there is no row');
  if (records.length > importLimits.rows) {
    throw fault('too_many_rows', `a file has at most ${importLimits.rows} rows below its header; divide it`);
  }
  return {
    columns: new Set(columns.filter((name) => name !== '')),
    rows: records.map((record) => ({
      cells: new Map(
        columns.flatMap((name, index) => {
          const cell = record[index] ?? '';
          return name === '' || cell === '' ? [] : [[name, withoutNeutraliser(cell)] as const];
        }),
      ),
      tooLong: record.slice(columns.length).some((cell) => cell.trim() !== ''),
    })),
  };
}

function recordsOf(text: string): readonly string[][] {
  const { delimiter, start } = delimiterOf(text);
  try {
    const parsed: unknown = parse(text.slice(start), {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      // An inch sign in the middle of a name opens no quotes.
      relax_quotes: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      // One more than may be, to see that there are more; and the header.
      to: importLimits.rows + 2,
    });
    return recordsSchema.parse(parsed);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw fault('csv', `the file is not valid CSV: ${error.message.slice(0, 200)}`);
  }
}

function columnsOf(header: readonly string[]): readonly string[] {
  if (header.length > maxColumns) throw fault('too_many_columns', `a file has at most ${maxColumns} columns`);
  const columns = header.map((name) => foldName(withoutNeutraliser(name)));
  const twice = columns.find((name, index) => name !== '' && columns.indexOf(name) !== index);
  if (twice !== undefined) {
    throw fault('duplicate_column', `the header names the column "${twice.slice(0, 100)}" twice`);
  }
  return columns;
}

function fault(code: InputErrorCode, message: string) {
  return invalidInput('body', '', code, message);
}
