import { Problem } from '@parallax/api-contract';
import { parseJson } from '../../../../platform/http/json-text.ts';
import type { Cells } from './table.ts';

/** Why one row cannot be imported; the others go on. */
export class RowFault extends Error {
  override readonly name = 'RowFault';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The first of some columns that is not empty, trimmed. */
export function textCell(cells: Cells, ...columns: readonly string[]): string | undefined {
  for (const column of columns) {
    const text = cells.get(column)?.trim();
    if (text !== undefined && text !== '') return text;
  }
  return undefined;
}

const trues: ReadonlySet<string> = new Set(['true', '1', 'yes', 'y', 'on']);
const falses: ReadonlySet<string> = new Set(['false', '0', 'no', 'n', 'off']);

/** @throws RowFault for what is neither yes nor no */
export function booleanCell(cells: Cells, ...columns: readonly string[]): boolean | undefined {
  const text = textCell(cells, ...columns)?.toLowerCase();
  if (text === undefined) return undefined;
  if (trues.has(text)) return true;
  if (falses.has(text)) return false;
  throw new RowFault('invalid_cell', `${columns[0] ?? ''}: "${text.slice(0, 50)}" is neither true nor false`);
}

/** @throws RowFault for what is no whole number; `60.0` of a spreadsheet is one */
export function integerCell(cells: Cells, ...columns: readonly string[]): number | undefined {
  const text = textCell(cells, ...columns);
  return text === undefined ? undefined : wholeNumber(text, columns[0] ?? '');
}

/** @throws RowFault */
export function wholeNumber(text: string, column: string): number {
  if (/^-?[0-9]{1,10}(\.0+)?$/.test(text)) return Number(text);
  throw new RowFault('invalid_cell', `${column}: "${text.slice(0, 50)}" is no whole number`);
}

/**
 * A list: a JSON array, or texts with commas between them.
 * @throws RowFault for JSON that is no array of texts and numbers
 */
export function listCell(cells: Cells, ...columns: readonly string[]): readonly string[] | undefined {
  const text = textCell(cells, ...columns);
  if (text === undefined) return undefined;
  if (!text.startsWith('[')) return separated(text);
  const parsed = jsonOf(text, columns[0] ?? '');
  if (Array.isArray(parsed) && parsed.every((item) => typeof item === 'string' || typeof item === 'number')) {
    return parsed.map(String);
  }
  throw new RowFault('invalid_cell', `${columns[0] ?? ''}: a JSON array of texts is expected`);
}

/** Texts with commas between them, trimmed; empty ones are none. */
export function separated(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** A list as `listCell` reads it: with commas where that is unambiguous, else JSON. */
export function listText(items: readonly string[]): string {
  const isPlain = items.every(
    (item, index) => item !== '' && item === item.trim() && !item.includes(',') && (index > 0 || !item.startsWith('[')),
  );
  return isPlain ? items.join(', ') : JSON.stringify(items);
}

/** JSON in a cell, as strict as that of a body: NUL, lone surrogates and keys given twice are refused. @throws RowFault */
export function jsonOf(text: string, column: string): unknown {
  try {
    return parseJson(text, { maxDepth: 16 });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new RowFault('invalid_cell', `${column}: ${error.message}`);
  }
}
