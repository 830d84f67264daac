import type { InputError, StatusPageItemInput, StatusPageItemType } from '@parallax/api-contract';
import { placeOfGroup, placeOfSubject } from '../../../response/maintenance/index.ts';
import type { NamedScope } from '../../../response/maintenance/index.ts';
import type { ItemRow } from './row.ts';

/** An item as it is written. Its component keeps the name that it has, or gets one. */
export type ItemValues = Omit<ItemRow, 'component_id'>;

/** The items of a body as they are written. */
export function itemsOfBody(given: readonly StatusPageItemInput[]): readonly ItemValues[] {
  return given.map((item) => ({
    type: item.type,
    id: item.id,
    display_name: item.display_name ?? null,
    description: item.description ?? '',
    section: item.group ?? null,
    show_uptime: item.show_uptime,
    show_response_times: item.show_response_times,
    only_if_degraded: item.only_if_degraded,
  }));
}

/** Monitors as items with nothing said of them. */
export function itemsOfMonitors(ids: readonly number[]): readonly ItemValues[] {
  return ids.map((id) => ({
    type: 'monitor',
    id,
    display_name: null,
    description: '',
    section: null,
    show_uptime: true,
    show_response_times: false,
    only_if_degraded: false,
  }));
}

/** What items refer to, with the place of each in the body. */
export function namedBy(items: readonly ItemValues[], field: 'items' | 'monitor_ids'): NamedScope {
  const idsOf = (type: StatusPageItemType) => items.filter((item) => item.type === type).map(({ id }) => id);
  const places = new Map(
    items.map(({ type, id }, index): [string, Pick<InputError, 'in' | 'path'>] => [
      type === 'group' ? placeOfGroup(id) : placeOfSubject(type, id),
      { in: 'body', path: field === 'items' ? `/items/${index}/id` : `/monitor_ids/${index}` },
    ]),
  );
  return {
    all: false,
    monitorIds: idsOf('monitor'),
    heartbeatIds: idsOf('heartbeat'),
    webhookCheckIds: idsOf('webhook_check'),
    groupIds: idsOf('group'),
    tags: [],
    places,
  };
}

/** Those that a page does not show yet. */
export function newAmong(items: readonly ItemValues[], present: readonly ItemRow[]): readonly ItemValues[] {
  const known = new Set(present.map(({ type, id }) => `${type} ${id}`));
  return items.filter(({ type, id }) => !known.has(`${type} ${id}`));
}
