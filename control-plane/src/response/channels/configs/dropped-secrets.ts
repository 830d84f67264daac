import type { AnySettings, Channel } from '../channel.ts';
import { isRecord, listsWithSecrets, namesOf } from './shown-settings.ts';

/**
 * JSON pointers to the credentials that were stored and are no more, though the change did not clear them. An item that the change leaves out
 * of its list goes with its credentials: that was asked for.
 */
export function droppedSecrets(
  channel: Pick<Channel, 'secrets'>,
  stored: AnySettings,
  after: AnySettings,
  change: AnySettings,
): readonly string[] {
  const own = goneOf(namesOf(channel, undefined), { stored, after, change }).map((name) => `/settings/${name}`);
  const ofLists = listsWithSecrets(channel).flatMap((list) =>
    itemsOf(after, list).flatMap((item, index) => {
      const byKey = (settings: AnySettings) => itemsOf(settings, list).find((one) => one['key'] === item['key']) ?? {};
      const pair = { stored: byKey(stored), after: item, change: byKey(change) };
      return goneOf(namesOf(channel, list), pair).map((name) => `/settings/${list}/${index}/${name}`);
    }),
  );
  return [...own, ...ofLists];
}

type Change = { readonly stored: AnySettings; readonly after: AnySettings; readonly change: AnySettings };

function goneOf(names: readonly string[], { stored, after, change }: Change): readonly string[] {
  return names.filter((name) => isSet(stored[name]) && !isSet(after[name]) && change[name] !== null);
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

function itemsOf(settings: AnySettings, list: string): readonly AnySettings[] {
  const items = settings[list];
  return Array.isArray(items) ? items.map((item: unknown) => (isRecord(item) ? item : {})) : [];
}
