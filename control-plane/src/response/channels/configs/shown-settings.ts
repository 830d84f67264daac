import type { AnySettings, Channel } from '../channel.ts';

/** Settings as they are answered: in the place of each credential `has_<name>` says whether there is one. */
export function shownSettings(channel: Pick<Channel, 'secrets'>, settings: AnySettings): Record<string, unknown> {
  const shown = withoutSecrets(settings, namesOf(channel, undefined));
  for (const list of listsWithSecrets(channel)) {
    const items = settings[list];
    if (!Array.isArray(items)) continue;
    const secrets = namesOf(channel, list);
    shown[list] = items.map((item: unknown) => (isRecord(item) ? withoutSecrets(item, secrets) : null));
  }
  return shown;
}

/** Lists whose items hold credentials: `destinations` of `destinations[].url`. */
export function listsWithSecrets(channel: Pick<Channel, 'secrets'>): readonly string[] {
  return [...new Set(channel.secrets.flatMap((field) => (field.includes('[].') ? [field.split('[].')[0] ?? ''] : [])))];
}

/** Names of the credentials at the top (`list` undefined) or in the items of a list. */
export function namesOf(channel: Pick<Channel, 'secrets'>, list: string | undefined): readonly string[] {
  if (list === undefined) return channel.secrets.filter((field) => !field.includes('[].'));
  return channel.secrets.flatMap((field) => (field.startsWith(`${list}[].`) ? [field.slice(list.length + 3)] : []));
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutSecrets(record: AnySettings, secrets: readonly string[]): Record<string, unknown> {
  const open = Object.entries(record).filter(([name]) => !secrets.includes(name));
  const has = secrets.map((name) => [`has_${name}`, record[name] !== undefined && record[name] !== null] as const);
  return Object.fromEntries([...open, ...has]);
}
