/**
 * Finds what an answer, an event or a message shows of the engine's own record instead of the readable form: names in camelCase, microseconds, numbers of
 * errors and voters, the control plane as probe 0, and figures with more than four decimals.
 */

/** Below these names stands what users, other services or a standard (JSON Schema) wrote in words of their own. */
const othersWords = new Set([
  'schema',
  'headers',
  'payload',
  'settings',
  'secret_headers',
  'variables',
  'json',
  'form',
]);
/** Numbers by which the engine knows what people know by a name. */
const numbered = new Set(['error', 'voter', 'voters', 'missing']);

export type Looking = {
  /** Whether the names are those of another service, such as of a chat that a message goes to. Only the engine's very own are looked for then. */
  readonly hasOthersNames?: boolean;
};

/** Places in a JSON value with what stands there; empty when all of it is readable. */
export function engineRecordsIn(value: unknown, { hasOthersNames = false }: Looking = {}): readonly string[] {
  const found: string[] = [];
  const look = (one: unknown, place: string): void => {
    if (Array.isArray(one)) {
      for (const [index, item] of one.entries()) look(item, `${place}/${index}`);
      return;
    }
    if (typeof one === 'number' && hasManyDecimals(one)) found.push(`${place}: ${one}`);
    if (typeof one !== 'object' || one === null) return;
    for (const [name, inner] of Object.entries(one)) {
      const at = `${place}/${name}`;
      // Beside `success` it counts what failed, and beside `failing` who voted.
      const isCount = (name === 'error' && 'success' in one) || (name === 'voters' && 'failing' in one);
      if ((isEngineName(name, inner) && !isCount) || (!hasOthersNames && isCamelCase(name)))
        found.push(`${at}: ${shown(inner)}`);
      if (!othersWords.has(name)) look(inner, at);
    }
  };
  look(value, '');
  return found;
}

/** Four say a tenth of a microsecond and a millionth of a share; more is noise of the reckoning. */
const hasManyDecimals = (figure: number): boolean => Number(figure.toFixed(4)) !== figure;

const isCamelCase = (name: string): boolean => /^[a-z]+(?:[A-Z][a-z0-9]*)+$/.test(name);

function isEngineName(name: string, value: unknown): boolean {
  if (/[a-z]Us$/.test(name) || name.endsWith('_us')) return typeof value === 'number' || value === null;
  if (name === 'probe_id') return value === 0;
  if (name === 'probe') return value === 0 || value === '';
  // The names of columns and of places that differ are texts, such as `tls.tls_us`.
  if (name === 'field') return typeof value === 'string' && value.endsWith('_us');
  if (!numbered.has(name)) return false;
  return typeof value === 'number' || (Array.isArray(value) && value.some((each) => typeof each === 'number'));
}

/** The same for the names that begin a CSV file, or that stand before the colons of a YAML file. */
export function engineNamesInText(text: string, kind: 'csv' | 'yaml'): readonly string[] {
  const names =
    kind === 'csv'
      ? (text.split(/\r?\n/, 1)[0] ?? '').split(/[,;\t]/)
      : [...text.matchAll(/^[ -]*([A-Za-z_]+):/gm)].map(([, name]) => name ?? '');
  return names.filter((name) => isCamelCase(name) || name.endsWith('_us'));
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 100);
