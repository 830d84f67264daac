import type { AnySettings, Channel } from '../channel.ts';
import { isRecord, listsWithSecrets, namesOf } from './shown-settings.ts';

/**
 * Settings after a change: an absent key keeps, `null` clears, a list replaces the list. Items of lists with credentials keep theirs by their
 * `key`. Where a host changes, the credentials that were stored beside it or in lists below it go unless they are sent again: they were given for
 * the old one, and whoever may name a host must not be able to have them sent there. `has_…` of an answer that is sent back says nothing.
 */
export function mergeSettings(
  channel: Pick<Channel, 'secrets'>,
  stored: AnySettings,
  change: AnySettings,
): AnySettings {
  const secrets = namesOf(channel, undefined);
  const isElsewhere = movesAway(stored, merged(stored, change, secrets));
  const kept = isElsewhere ? withoutCredentials(channel, stored) : stored;
  const settings = merged(kept, change, secrets);
  for (const list of listsWithSecrets(channel)) {
    const given = change[list];
    if (!Array.isArray(given)) continue;
    const before = Array.isArray(kept[list]) ? (kept[list] as readonly unknown[]) : [];
    settings[list] = given.map((item: unknown) => mergeItem(before, item, namesOf(channel, list)));
  }
  return settings;
}

function merged(stored: AnySettings, change: AnySettings, secrets: readonly string[]): Record<string, unknown> {
  const all: Record<string, unknown> = { ...stored, ...withoutHas(change, secrets) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null && value !== undefined));
}

/** An item of a list: of the stored one with the same key only credentials are kept. */
function mergeItem(before: readonly unknown[], given: unknown, secrets: readonly string[]): unknown {
  if (!isRecord(given)) return given;
  const found = before.find((each) => isRecord(each) && each['key'] === given['key']);
  const stored = isRecord(found) ? found : {};
  const credentials = only(stored, secrets);
  const item = merged(credentials, given, secrets);
  return movesAway(stored, item) ? merged({}, given, secrets) : item;
}

/** Whether an address leads to another host than before; one that appears or goes away does, since there is a usual one in its place. */
function movesAway(before: AnySettings, after: AnySettings): boolean {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].some((name) => {
    const [old, now] = [before[name], after[name]];
    if (old === now) return false;
    return originOf(old) !== originOf(now) || (isHostName(old) && typeof now === 'string');
  });
}

/** Scheme, host and port of a URL; undefined for what is none. */
function originOf(value: unknown): string | undefined {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  if (url === null || url.host === '') return undefined;
  return url.origin === 'null' ? `${url.protocol}//${url.host}` : url.origin;
}

function isHostName(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z0-9-]+(\.[a-z0-9-]+)+(:[0-9]+)?$/i.test(value);
}

function withoutCredentials(channel: Pick<Channel, 'secrets'>, stored: AnySettings): AnySettings {
  const kept: Record<string, unknown> = { ...without(stored, namesOf(channel, undefined)) };
  for (const list of listsWithSecrets(channel)) {
    const items = stored[list];
    if (!Array.isArray(items)) continue;
    kept[list] = items.map((item: unknown) => (isRecord(item) ? without(item, namesOf(channel, list)) : item));
  }
  return kept;
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
