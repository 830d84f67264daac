import type { StatusPageItemType } from '@parallax/api-contract';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { ItemValues } from './items.ts';

type Page = { readonly id: number; readonly workspace_id: number };

const columnOf: Readonly<Record<StatusPageItemType, string>> = {
  monitor: 'monitor_id',
  heartbeat: 'heartbeat_id',
  webhook_check: 'webhook_check_id',
  group: 'group_id',
};

/** What a row of the table refers to, by what stands in a list of types and numbers. */
const isOf = (type: StatusPageItemType) => sql.fragment`case given.type when ${type} then given.id end`;

const shape = ['text', 'int4', 'text', 'text', 'text', 'bool', 'bool', 'bool', 'int4'];

/**
 * Writes items that were found in the workspace of a page. One that the page shows already is changed and keeps its component's name.
 * @param from the position of the first
 */
export async function writeItems(
  tx: Transaction,
  page: Page,
  items: readonly ItemValues[],
  from: number,
): Promise<void> {
  const rows = items.map((item, index) => [
    item.type,
    item.id,
    item.display_name,
    item.description,
    item.section,
    item.show_uptime,
    item.show_response_times,
    item.only_if_degraded,
    from + index,
  ]);
  await tx.query(sql.unsafe`
    insert into status_page_items (
      workspace_id, page_id, monitor_id, group_id, heartbeat_id, webhook_check_id, display_name, description, section, show_uptime,
      show_response_times, only_if_degraded, position)
    select ${page.workspace_id}, ${page.id}, ${isOf('monitor')}, ${isOf('group')}, ${isOf('heartbeat')}, ${isOf('webhook_check')},
      given.display_name, given.description, given.section, given.show_uptime, given.show_response_times, given.only_if_degraded,
      given.position
    from ${sql.unnest(rows, shape)} as given (
      type, id, display_name, description, section, show_uptime, show_response_times, only_if_degraded, position)
    on conflict (page_id, monitor_id, group_id, heartbeat_id, webhook_check_id) do update set
      display_name = excluded.display_name, description = excluded.description, section = excluded.section,
      show_uptime = excluded.show_uptime, show_response_times = excluded.show_response_times,
      only_if_degraded = excluded.only_if_degraded, position = excluded.position`);
}

/** Numbers the items of a page from 0 without gaps. @returns how many there are, with those whose subject waits to be removed */
export async function closeGaps(tx: Transaction, page: Page): Promise<number> {
  const placed = sql.fragment`placed as (
    select id, row_number() over (order by position, id) - 1 as place from status_page_items where page_id = ${page.id})`;
  await tx.query(sql.unsafe`
    with ${placed} update status_page_items i set position = placed.place from placed where placed.id = i.id and i.position <> placed.place`);
  return tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from status_page_items where page_id = ${page.id}`);
}

/** Makes items all that a page shows. */
export async function replaceItems(tx: Transaction, page: Page, items: readonly ItemValues[]): Promise<void> {
  const kept = items.map(({ type, id }) => [type, id]);
  await tx.query(sql.unsafe`
    delete from status_page_items i where i.page_id = ${page.id} and not exists (
      select from ${sql.unnest(kept, ['text', 'int4'])} as given (type, id)
      where (i.monitor_id, i.group_id, i.heartbeat_id, i.webhook_check_id)
        is not distinct from (${isOf('monitor')}, ${isOf('group')}, ${isOf('heartbeat')}, ${isOf('webhook_check')}))`);
  await writeItems(tx, page, items, 0);
}

/** Takes an item out of a page. */
export async function removeItem(
  tx: Transaction,
  page: Page,
  { type, id }: { readonly type: StatusPageItemType; readonly id: number },
): Promise<void> {
  await tx.query(sql.unsafe`
    delete from status_page_items where page_id = ${page.id} and ${sql.identifier([columnOf[type]])} = ${id}`);
}
