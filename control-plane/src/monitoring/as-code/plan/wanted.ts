import { groupProtocol } from '@parallax/api-contract';
import type { MonitorProtocol } from '@parallax/api-contract';
import { insteadOfIdentifier, namedGroupSettings } from '../../groups/check/index.ts';
import { kindOf } from '../../monitors/index.ts';
import type { FileMonitor } from '../document/read.ts';
import type { Fault } from '../errors.ts';
import type { WantedSecret } from '../secrets.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Settings as a file wants them. */
export type WantedSettings = {
  readonly open: Fields;
  /** What is not among `open` is to have its default. False where that cannot be told, since a secret that is kept is not known. */
  readonly isWhole: boolean;
};

export type WantedMonitor = Pick<FileMonitor, 'name' | 'fields' | 'placeOf'> & {
  readonly settings: WantedSettings | undefined;
  readonly secrets: Readonly<Record<string, WantedSecret>>;
};

/**
 * A monitor of a file with its settings as the check type's own schema reads them, defaults and all.
 * @param secrets the values of those of `monitor.secrets`
 */
export function wantedMonitor(
  monitor: FileMonitor,
  secrets: Readonly<Record<string, WantedSecret>>,
  refuse: (fault: Fault) => void,
): WantedMonitor {
  const { name, fields, placeOf } = monitor;
  const common = { name, fields, placeOf, secrets };
  if (monitor.settings === undefined) return { ...common, settings: undefined };
  const protocol = fields['protocol'] as MonitorProtocol;
  // The lists of a blocklist check have a field of their own, and the API refuses them in both places.
  const lists = protocol === 'dnsbl' && hasItems(fields['dnsbl_servers']) ? { lists: fields['dnsbl_servers'] } : {};
  const values = Object.entries(secrets).flatMap(([key, secret]) =>
    'kept' in secret ? [] : [[key, secret.value] as const],
  );
  const { secretFields, settings } = kindOf(protocol);
  const schema = protocol === groupProtocol ? namedGroupSettings : settings();
  const parsed = schema.safeParse({ ...monitor.settings, ...lists, ...Object.fromEntries(values) });
  if (parsed.success) {
    const open = Object.entries(parsed.data ?? {}).filter(
      ([key, value]) => value !== undefined && !secretFields.includes(key) && !Object.hasOwn(lists, key),
    );
    return { ...common, settings: { open: Object.fromEntries(open), isWhole: true } };
  }
  // Some settings are no good without a secret, so where one is kept only the API can judge.
  if (values.length === Object.keys(secrets).length) {
    for (const issue of parsed.error.issues) {
      const keys = issue.code === 'unrecognized_keys' ? issue.keys : [''];
      for (const key of keys) {
        const path = [...issue.path, ...(key === '' ? [] : [key])];
        const instead = protocol === groupProtocol ? insteadOfIdentifier(key) : undefined;
        const unknown = instead ?? `the protocol ${protocol} has no setting "${key.slice(0, 100)}"`;
        const what = key === '' ? issue.message : unknown;
        refuse({ place: placeOf('settings', ...path), message: `settings of "${name}": ${what}` });
      }
    }
  }
  return { ...common, settings: { open: monitor.settings, isWhole: false } };
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}
