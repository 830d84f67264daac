import type { ImportRow } from '@parallax/api-contract';
import { printable, showDifferences } from '../as-code/index.ts';

const quoted = (text: string): string => printable(JSON.stringify(text));

/** What became of a row, for people: `+` is created, `=` skipped, `!` failed. */
export function showRow(row: ImportRow, isDryRun: boolean): readonly string[] {
  const name = quoted(row.name ?? row.url ?? `row ${row.row}`);
  const why = row.reason === undefined ? '' : `: ${printable(row.reason)}`;
  const warnings = row.warnings.map((warning) => `    warning: ${printable(warning)}`);
  const signs = { created: '+', skipped: '=', failed: '!' } as const;
  const details = isDryRun ? [...fieldsOf(row), ...differencesOf(row)] : [];
  return [`${signs[row.status]} monitor ${name}${why}`, ...details, ...warnings];
}

/** What is created, without what has its place in the first line or says nothing. */
function fieldsOf({ fields }: ImportRow): readonly string[] {
  const shown = Object.entries(fields ?? {}).filter(([name, value]) => name !== 'name' && !isEmpty(value));
  return showDifferences(
    shown.map(([field, after]) => ({ field, before: undefined, after })),
    true,
  );
}

function differencesOf({ differences = [] }: ImportRow): readonly string[] {
  const shown = differences.map(({ field, existing, imported }) => ({ field, before: existing, after: imported }));
  return shown.length === 0 ? [] : ['    it differs, and stays as it is:', ...showDifferences(shown)];
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}
