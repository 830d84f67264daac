import { groupProtocol } from '@parallax/api-contract';
import { movesDestination } from '../../monitors/index.ts';
import type { Fault } from '../errors.ts';
import type { CurrentMonitor } from '../state.ts';
import { changedFields, differencesOf } from './difference.ts';
import type { Difference } from './difference.ts';
import type { WantedMonitor } from './wanted.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What is written of a monitor: the fields of a POST or PATCH, but for probes and what a group monitor watches, which stand by name. */
export type MonitorWrite = {
  readonly name: string;
  readonly protocol: string;
  /** Undefined: it is new. */
  readonly current: CurrentMonitor | undefined;
  readonly fields: Fields;
  /** Secrets aside; null goes back to the default. */
  readonly settings: Fields;
  readonly secrets: Fields;
  readonly differences: readonly Difference[];
};

type Options = {
  /** Send given secrets also where one is set already: the API does not tell whether they are the same. */
  readonly sendSecrets: boolean;
  readonly refuse: (fault: Fault) => void;
};

/** What makes a monitor as it is wanted; no differences when it is so. */
export function planMonitor(
  wanted: WantedMonitor,
  current: CurrentMonitor | undefined,
  options: Options,
): MonitorWrite {
  const fields = changedFields(current?.fields ?? {}, wanted.fields);
  const settings = settingsToWrite(wanted, current);
  const { secrets, differences } = secretsToWrite(wanted, current, settings, options);
  refuseWithoutMembers(wanted, current, options);
  return {
    name: wanted.name,
    protocol: String(wanted.fields['protocol']),
    current,
    fields,
    settings,
    secrets,
    differences: [
      ...differencesOf('', current?.fields, fields),
      ...differencesOf('settings.', current?.settings, shownSettings(settings, current)),
      ...differences,
    ],
  };
}

/** No default says what a group monitor watches. */
function refuseWithoutMembers(
  { name, fields, settings, placeOf }: WantedMonitor,
  current: CurrentMonitor | undefined,
  { refuse }: Options,
): void {
  if (settings !== undefined || fields['protocol'] !== groupProtocol) return;
  if (current?.fields['protocol'] === groupProtocol) return;
  refuse({ place: placeOf('protocol'), message: `settings of "${name}": monitors or group is needed` });
}

function settingsToWrite({ fields, settings }: WantedMonitor, current: CurrentMonitor | undefined): Fields {
  if (settings === undefined) return {};
  if (current === undefined || current.fields['protocol'] !== fields['protocol']) return settings.open;
  const gone = settings.isWhole
    ? Object.keys(current.settings).filter((name) => !Object.hasOwn(settings.open, name))
    : [];
  const back = gone.filter((name) => current.settings[name] !== null).map((name) => [name, null] as const);
  return { ...changedFields(current.settings, settings.open), ...Object.fromEntries(back) };
}

/** With another protocol all settings are sent; those that stay as they are need not be told. */
function shownSettings(settings: Fields, current: CurrentMonitor | undefined): Fields {
  return current === undefined ? settings : changedFields(current.settings, settings);
}

function secretsToWrite(
  wanted: WantedMonitor,
  current: CurrentMonitor | undefined,
  settings: Fields,
  { sendSecrets, refuse }: Options,
): { readonly secrets: Fields; readonly differences: readonly Difference[] } {
  const isSet = new Set(current?.secrets);
  const moves = current !== undefined && leadsElsewhere(wanted, current, settings);
  const secrets: [string, unknown][] = [];
  const differences: Difference[] = [];
  for (const [name, secret] of Object.entries(wanted.secrets)) {
    const field = `settings.${name}`;
    if ('kept' in secret) {
      if (isSet.has(name) && !moves) continue;
      const why = moves ? 'secrets do not follow a monitor to another destination' : 'there is none to keep';
      const message = `${name} of "${wanted.name}": ${why}; give it as { from_env: NAME } or { from_file: PATH }`;
      refuse({ place: wanted.placeOf('settings', name), message });
    } else if (!isSet.has(name) || moves || sendSecrets) {
      secrets.push([name, secret.value]);
      differences.push({ field, secret: isSet.has(name) ? 'replaced' : 'set' });
    }
  }
  const dropped = moves ? [...isSet].filter((name) => !Object.hasOwn(wanted.secrets, name)) : [];
  for (const name of dropped) differences.push({ field: `settings.${name}`, secret: 'dropped' });
  return { secrets: Object.fromEntries(secrets), differences };
}

/** By the rule of the API itself: another scheme, host, port or relay. */
function leadsElsewhere(wanted: WantedMonitor, current: CurrentMonitor, settings: Fields): boolean {
  const place = (fields: Fields, own: Fields) => ({
    protocol: String(fields['protocol']),
    url: String(fields['url']),
    settings: own,
  });
  return movesDestination(
    place(current.fields, current.settings),
    place({ ...current.fields, ...wanted.fields }, { ...current.settings, ...settings }),
  );
}
