import { namedGroupTarget } from '../../../groups/check/index.ts';
import type { NamedGroupSettings } from '../../../groups/check/index.ts';
import { sameJson } from '../../settings.ts';
import type { PlainValues } from '../../values.ts';
import { ownColumns } from '../export/columns.ts';
import type { ExportedMonitor } from '../export/csv.ts';

/** A monitor by the fields that are exported, its place aside; of secrets only that they are set. */
export type ShownMonitor = Readonly<Record<string, unknown>> & { readonly settings: Readonly<Record<string, unknown>> };

/**
 * @param probes names of `wanted_probe_ids`
 * @param watches settings of a group monitor, by name
 */
export function shownValues(
  values: PlainValues,
  probes: readonly string[],
  lacking: readonly string[],
  watches?: NamedGroupSettings,
): ShownMonitor {
  const { settings, wanted_probe_ids: _ids, wanted_regions: regions, ...fields } = values;
  return {
    ...fields,
    probes,
    regions: regions ?? [],
    ...(watches === undefined ? {} : { url: namedGroupTarget(watches) }),
    settings: watches ?? { ...settings.open, ...marks([...Object.keys(settings.secret), ...lacking]) },
  };
}

/** The same of a stored monitor. */
export function shownExport(monitor: ExportedMonitor): ShownMonitor {
  const fields = ownColumns
    .filter((column) => column !== 'workspace')
    .map((column) => [column, monitor[column]] as const);
  return { ...Object.fromEntries(fields), settings: { ...monitor.settings, ...marks(monitor.secret_fields) } };
}

export type Difference = { readonly field: string; readonly existing: unknown; readonly imported: unknown };

/** Field by field, settings one by one, in the order of the fields. */
export function differences(existing: ShownMonitor, imported: ShownMonitor): readonly Difference[] {
  const { settings: before, ...fieldsBefore } = existing;
  const { settings: after, ...fieldsAfter } = imported;
  return [...differing('', fieldsBefore, fieldsAfter), ...differing('settings.', before, after)];
}

function differing(
  prefix: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const existing = before[name] ?? null;
    const imported = after[name] ?? null;
    return sameJson(existing, imported) ? [] : [{ field: `${prefix}${name}`, existing, imported }];
  });
}

function marks(names: readonly string[]): Record<string, true> {
  return Object.fromEntries(names.map((name) => [`has_${name}`, true] as const));
}
