import { groupProtocol, Problem } from '@parallax/api-contract';
import type { MonitorProtocol } from '@parallax/api-contract';
import { kindOf, protocolOf } from '../../monitors/index.ts';
import { faultsError } from '../errors.ts';
import type { Fault, Place } from '../errors.ts';
import { secretSources } from '../secrets.ts';
import type { SecretSources } from '../secrets.ts';
import { fileSchema, nullableFields } from './shape.ts';
import { readYaml } from './yaml.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What a file says of a monitor. An absent field is left as it is, also all of `settings`; a map or list that is there is the whole. */
export type FileMonitor = {
  readonly name: string;
  /** Without name and settings; probes by name. */
  readonly fields: Fields;
  /** Without secrets. */
  readonly settings: Fields | undefined;
  readonly secrets: Readonly<Record<string, SecretSources>>;
  /** Where something of it stands, by its path below the monitor. */
  readonly placeOf: (...path: readonly PropertyKey[]) => Place;
};

export type FileGroup = {
  readonly name: string;
  readonly fields: Fields & { readonly monitors?: readonly string[] | undefined };
  readonly placeOf: (...path: readonly PropertyKey[]) => Place;
};

export type AsCodeFile = {
  readonly workspace: string | number | undefined;
  readonly workspacePlace: Place;
  /** Undefined: the file does not speak of monitors, so none is to be removed for it. */
  readonly monitors: readonly FileMonitor[] | undefined;
  readonly groups: readonly FileGroup[] | undefined;
};

/** @throws AsCodeError with line and column of everything that is wrong */
export function readAsCode(text: string, file: string): AsCodeFile {
  const { data, placeOf } = readYaml(text, file);
  const faults: Fault[] = [];
  const refuse = (path: readonly PropertyKey[], message: string): void => {
    faults.push({ place: placeOf(path), message });
  };
  const parsed = fileSchema.safeParse(data);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      if (issue.code !== 'unrecognized_keys') refuse(issue.path, `${spoken(issue.path)}${issue.message}`);
      else for (const key of issue.keys) refuse([...issue.path, key], `there is no field "${key.slice(0, 100)}" here`);
    }
    throw faultsError(faults);
  }
  const { monitors, monitor_groups: groups, workspace } = parsed.data;
  const below =
    (...base: readonly PropertyKey[]) =>
    (...path: readonly PropertyKey[]): Place =>
      placeOf([...base, ...path]);
  const result: AsCodeFile = {
    workspace,
    workspacePlace: placeOf(['workspace']),
    monitors: monitors?.map(({ name, settings, url, ...others }, index) => {
      const given = { ...(url === undefined || url === '' ? {} : { url }), ...others };
      const path = ['monitors', index];
      refuseNulls(given, path, refuse);
      if (settings === null) refuse([...path, 'settings'], 'settings must not be null: leave it out, or write {}');
      const protocol = protocolIn(given, path, refuse);
      const fields = { ...given, protocol };
      const secretNames = protocol === undefined ? [] : kindOf(protocol).secretFields;
      return {
        name,
        fields,
        ...splitSettings(secretNames, settings ?? undefined, path, refuse),
        placeOf: below(...path),
      };
    }),
    groups: groups?.map(({ name, ...fields }, index) => {
      refuseNulls(fields, ['monitor_groups', index], refuse);
      return { name, fields, placeOf: below('monitor_groups', index) };
    }),
  };
  if (faults.length > 0) throw faultsError(faults);
  return result;
}

type Refuse = (path: readonly PropertyKey[], message: string) => void;

function refuseNulls(fields: Fields, path: readonly PropertyKey[], refuse: Refuse): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === null && !nullableFields.has(name)) {
      refuse([...path, name], `${name} must not be null: leave it out to keep it, or write its value`);
    }
  }
}

function splitSettings(
  secretNames: readonly string[],
  settings: Fields | undefined,
  path: readonly PropertyKey[],
  refuse: Refuse,
) {
  const open: [string, unknown][] = [];
  const secrets: [string, SecretSources][] = [];
  for (const [name, value] of Object.entries(settings ?? {})) {
    const sources = secretNames.includes(name) ? secretSources(value) : undefined;
    if (sources !== undefined) secrets.push([name, sources]);
    else if (!secretNames.includes(name)) open.push([name, value]);
    else {
      const way = `write ${name}: { from_env: NAME }, { from_file: PATH } or { kept: true }`;
      refuse([...path, 'settings', name], `${name} is a secret and does not stand in a file: ${way}`);
    }
  }
  return {
    settings: settings === undefined ? undefined : Object.fromEntries(open),
    secrets: Object.fromEntries(secrets),
  };
}

/** As named, else the scheme of the URL, as for a new monitor: what is secret follows from it. */
function protocolIn(
  { protocol, url = '' }: { readonly protocol?: MonitorProtocol | undefined; readonly url?: string | undefined },
  path: readonly PropertyKey[],
  refuse: Refuse,
): MonitorProtocol | undefined {
  if (protocol === groupProtocol && url !== '')
    refuse([...path, 'url'], 'a monitor of the protocol group has no url: its settings name what it watches');
  if (protocol !== undefined && protocol !== groupProtocol && url === '') refuse([...path, 'url'], 'url: it is needed');
  try {
    return protocolOf(url, protocol);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    refuse([...path, 'url'], error.message);
    return undefined;
  }
}

/** The field that a message is about, where it is not the key that the line shows. */
function spoken(path: readonly PropertyKey[]): string {
  const names = path.filter((part) => typeof part === 'string');
  const last = names.at(-1);
  return last === undefined ? '' : `${last.slice(0, 100)}: `;
}
