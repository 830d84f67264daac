import type { AnySettings, Channel } from '../channel.ts';
import { isRecord, listsWithSecrets, namesOf } from './shown-settings.ts';

/**
 * Settings after a change: an absent key keeps, `null` clears, a list replaces the list. Items of lists with credentials keep theirs by their
 * `key`. Where a host changes, the credentials that were stored beside it go unless they are sent again: they were given for the old one, and
 * whoever may name a host must not be able to have them sent there. `has_…` of an answer that is sent back says nothing.
 */
export function mergeSettings(
  channel: Pick<Channel, 'secrets'>,
  stored: AnySettings,
  change: AnySettings,
): AnySettings {
  const merged = mergeRecord(stored, change, namesOf(channel, undefined));
  for (const list of listsWithSecrets(channel)) {
    const given = change[list];
    if (!Array.isArray(given)) continue;
    const before = Array.isArray(stored[list]) ? (stored[list] as readonly unknown[]) : [];
    merged[list] = given.map((item: unknown) => mergeItem(before, item, namesOf(channel, list)));
  }
  return merged;
}

function mergeRecord(stored: AnySettings, change: AnySettings, secrets: readonly string[]): Record<string, unknown> {
  const kept = movesAway(stored, change) ? without(stored, secrets) : stored;
  const all: Record<string, unknown> = { ...kept, ...withoutHas(change, secrets) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null && value !== undefined));
}

/** An item of a list: of the stored one with the same key only credentials are kept. */
function mergeItem(before: readonly unknown[], given: unknown, secrets: readonly string[]): unknown {
  if (!isRecord(given)) return given;
  const stored = before.find((each) => isRecord(each) && each['key'] === given['key']);
  const credentials = isRecord(stored) ? only(stored, secrets) : {};
  return mergeRecord(credentials, given, secrets);
}

/** Whether an address in these settings leads to another host than before. */
function movesAway(stored: AnySettings, change: AnySettings): boolean {
  return Object.entries(change).some(([name, value]) => {
    const before = stored[name];
    if (typeof before !== 'string' || typeof value !== 'string' || before === value) return false;
    const host = hostOf(before);
    return host !== undefined && host !== hostOf(value);
  });
}

/** Scheme, host and port of a URL, or a bare host name; undefined for text that is neither. */
function hostOf(text: string): string | undefined {
  const url = URL.parse(text);
  if (url !== null && url.host !== '') return url.origin === 'null' ? `${url.protocol}//${url.host}` : url.origin;
  return /^[a-z0-9-]+(\.[a-z0-9-]+)+(:[0-9]+)?$/i.test(text) ? text.toLowerCase() : undefined;
}

function withoutHas(change: AnySettings, secrets: readonly string[]): AnySettings {
  const has = secrets.map((name) => `has_${name}`);
  return without(change, has);
}

function without(record: AnySettings, names: readonly string[]): AnySettings {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

function only(record: AnySettings, names: readonly string[]): AnySettings {
  return Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)));
}
