import type { ImportFormat } from '@parallax/api-contract';
import type { NamedGroupSettings } from '../../../groups/check/index.ts';
import { RowFault } from '../file/cells.ts';
import type { Cells } from '../file/table.ts';

/** A row as the body of `POST /monitors`, without its workspace, and what is named in it instead of numbered. */
export type ImportedMonitor = {
  readonly kind: 'monitor';
  readonly body: Readonly<Record<string, unknown>> & { readonly url: string };
  /** Name of the workspace. */
  readonly workspace?: string | undefined;
  /** Names of the probes that are to check. */
  readonly probes?: readonly string[] | undefined;
  /** Of a group monitor: its settings, by name. Its body has none. */
  readonly watches?: NamedGroupSettings | undefined;
  /** Secret settings that the monitor had and that are not in the file. */
  readonly lacking: readonly string[];
  readonly warnings: readonly string[];
};

/** A row that is no monitor here, or not one that can be understood. */
export type ImportedFault = {
  readonly kind: 'skipped' | 'failed';
  readonly code: string;
  readonly reason: string;
  readonly name: string | undefined;
  readonly url: string | undefined;
};

export type ImportedRow = ImportedMonitor | ImportedFault;

/** Reads one row; what it warns of is added to `warnings`. @throws RowFault, or `Untranslatable` */
export type RowReader<Row = Cells> = (row: Row, warnings: string[]) => Omit<ImportedMonitor, 'kind' | 'warnings'>;

/** The files of one tool. */
export type Format = {
  readonly name: ImportFormat;
  /** Folded columns of which a file of this tool has all of one list. */
  readonly marks: readonly (readonly string[])[];
  /** Columns that may hold what is checked; the first is the usual one. */
  readonly target: readonly string[];
  /** Columns that may hold the name, for the report. */
  readonly title: readonly string[];
  readonly read: RowReader;
};

/** A row that means something which is no monitor of ours. */
export class Untranslatable extends Error {
  override readonly name = 'Untranslatable';
}

/** Reads a row and makes what is thrown a part of the report. */
export function readRow<Row>(
  read: RowReader<Row>,
  row: Row,
  label: { readonly name: string | undefined; readonly url: string | undefined },
): ImportedRow {
  const warnings: string[] = [];
  try {
    return { kind: 'monitor', ...read(row, warnings), warnings };
  } catch (error) {
    if (error instanceof Untranslatable) {
      return { kind: 'skipped', code: 'not_translatable', reason: error.message, ...label };
    }
    if (error instanceof RowFault) return { kind: 'failed', code: error.code, reason: error.message, ...label };
    throw error;
  }
}

/** Leaves out what is undefined, so that defaults apply. */
export function present<Fields extends Readonly<Record<string, unknown>>>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}
