import type { AnySettings, Channel } from './channel.ts';

/** The values of a channel's secret fields in these settings: `token`, or `destinations[].url` of every destination. */
export function secretValues(channel: Pick<Channel, 'secrets'>, settings: AnySettings): readonly string[] {
  return channel.secrets.flatMap((field) => valuesAt(settings, field)).filter((value) => value !== '');
}

function valuesAt(settings: AnySettings, field: string): readonly string[] {
  const [list, inner] = field.split('[].');
  if (list === undefined) return [];
  if (inner === undefined) return textsIn(settings[field]);
  const items = settings[list];
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: unknown) => (isRecord(item) ? textsIn(item[inner]) : []));
}

/** A secret may be a text, or a record of texts such as header values. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return isRecord(value) ? Object.values(value).flatMap(textsIn) : [];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
