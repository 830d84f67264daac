import { sameJson } from '../../monitors/index.ts';
import type { CurrentMonitor, CurrentState } from '../state.ts';
import { monitorFields } from './shape.ts';
import { readYaml, writeYaml } from './yaml.ts';

const heading = '# A workspace of Parallax, as control-plane export writes it and control-plane apply reads it.\n';

/**
 * A workspace as a file. In the order of names, without identifiers, times and versions, so that equal states give equal bytes.
 *
 * A secret that is set stands as `{ kept: true }`: the file can be applied where it comes from as it is, without naming variables that
 * nobody has set; elsewhere `apply` says which secrets are to be given.
 * @param workspace its name; a number for a key, which may not read the name
 */
export function writeAsCode(workspace: string | number, { monitors, groups }: CurrentState): string {
  const data = {
    parallax: 1,
    workspace,
    monitors: byName(monitors).map(monitorOf),
    monitor_groups: byName(groups).map(({ name, fields }) => ({ name, ...fields })),
  };
  const text = heading + writeYaml(data);
  if (!sameJson(readYaml(text, 'export').data, data)) throw new Error('an export does not read as what was written');
  return text;
}

function monitorOf({ name, fields, settings, secrets }: CurrentMonitor): Record<string, unknown> {
  const kept = secrets.map((secret) => [secret, { kept: true }] as const);
  const all = Object.entries({ ...settings, ...Object.fromEntries(kept) }).filter(([, value]) => value !== null);
  const whole: Record<string, unknown> = { name, ...fields, settings: inOrder(Object.fromEntries(all)) };
  return Object.fromEntries(
    monitorFields.filter((field) => whole[field] !== undefined).map((field) => [field, whole[field]]),
  );
}

/** By code units: the same everywhere, whatever the language of the machine. */
function byName<Item extends { readonly name: string }>(items: readonly Item[]): Item[] {
  return [...items].sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, inOrder(inner)] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
