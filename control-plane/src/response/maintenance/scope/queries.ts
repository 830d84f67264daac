import { subjectTypes } from '@parallax/api-contract';
import type { SubjectType } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { ScopeItem } from './judge.ts';

type Fragment = ReturnType<typeof sql.fragment>;

/** Where subjects stand, with their names and tags. A new type of subject gets a line. */
const subjectRows = (workspaceId: Fragment): Fragment => sql.fragment`(
  select 'monitor' as subject_type, m.id as subject_id, m.name, m.tags,
    array(select gm.group_id from monitor_group_members gm where gm.monitor_id = m.id) as group_ids
  from monitors m where m.workspace_id = ${workspaceId} and m.deleted_at is null)`;

/** Whether a subject `s` lies in the scope of a window `w`. */
const isInScope = sql.fragment`(w.is_for_all or exists (
  select from maintenance_scopes c where c.window_id = w.id and (
    (c.subject_type = s.subject_type and c.subject_id = s.subject_id)
    or c.group_id = any(s.group_ids)
    or c.tag = any(s.tags)
    or exists (select from monitor_groups g where g.id = any(s.group_ids) and c.tag = any(g.tags)))))`;

/** Writes what a window is for, in place of what it was. */
export async function writeScope(
  transaction: Transaction,
  window: { readonly id: number; readonly workspaceId: number },
  items: readonly ScopeItem[],
): Promise<void> {
  await transaction.query(sql.unsafe`delete from maintenance_scopes where window_id = ${window.id}`);
  const rows = items.map((item) => [
    item.kind === 'subject' ? item.type : null,
    item.kind === 'subject' ? item.id : null,
    item.kind === 'group' ? item.id : null,
    item.kind === 'tag' ? item.tag : null,
  ]);
  await transaction.query(sql.unsafe`
    insert into maintenance_scopes (workspace_id, window_id, subject_type, subject_id, group_id, tag)
    select ${window.workspaceId}, ${window.id}, given.* from ${sql.unnest(rows, ['text', 'int4', 'int4', 'text'])} as given (a, b, c, d)`);
}

const missingRow = z.object({ place: z.number() });

/** Those items that the workspace does not have. */
export async function missingItems(
  connection: CommonQueryMethods,
  workspaceId: number,
  items: readonly ScopeItem[],
): Promise<readonly ScopeItem[]> {
  const rows = items.map((item, index) => [
    index,
    item.kind === 'subject' ? item.type : null,
    item.kind === 'tag' ? null : item.id,
  ]);
  const missing = await connection.any(sql.type(missingRow)`
    select given.place from ${sql.unnest(rows, ['int4', 'text', 'int4'])} as given (place, type, id)
    where given.id is not null and not case when given.type is null
      then exists (select from monitor_groups g where g.workspace_id = ${workspaceId} and g.id = given.id)
      else exists (select from ${subjectRows(sql.fragment`${workspaceId}`)} s where s.subject_type = given.type and s.subject_id = given.id) end
    order by given.place`);
  return missing.flatMap(({ place }) => items[place] ?? []);
}

const coveredRow = z.object({ type: z.enum(subjectTypes), id: z.number(), name: z.string(), total: z.number() });
export type Covered = { readonly type: SubjectType; readonly id: number; readonly name: string };

/** What a scope covers now, so much at most, and how much it is. */
export async function covered(
  connection: CommonQueryMethods,
  workspaceId: number,
  scope: { readonly isForAll: boolean; readonly items: readonly ScopeItem[] },
  most: number,
): Promise<{ readonly subjects: readonly Covered[]; readonly total: number }> {
  const ids = (type: SubjectType) =>
    scope.items.flatMap((item) => (item.kind === 'subject' && item.type === type ? [item.id] : []));
  const named = subjectTypes.map(
    (type) => sql.fragment`(s.subject_type = ${type} and s.subject_id = any(${sql.array(ids(type), 'int4')}))`,
  );
  const groups = scope.items.flatMap((item) => (item.kind === 'group' ? [item.id] : []));
  const tags = scope.items.flatMap((item) => (item.kind === 'tag' ? [item.tag] : []));
  const rows = await connection.any(sql.type(coveredRow)`
    select s.subject_type as type, s.subject_id as id, s.name, count(*) over ()::integer as total
    from ${subjectRows(sql.fragment`${workspaceId}`)} s
    where ${scope.isForAll} or ${sql.join(named, sql.fragment` or `)}
      or s.group_ids && ${sql.array(groups, 'int4')} or s.tags && ${sql.array(tags, 'text')}
      or exists (select from monitor_groups g where g.id = any(s.group_ids) and g.tags && ${sql.array(tags, 'text')})
    order by s.name, s.subject_id limit ${most}`);
  return { subjects: rows.map(({ type, id, name }) => ({ type, id, name })), total: rows[0]?.total ?? 0 };
}

/**
 * Notes what occurrences that are under way cover, as far as it is not noted: from their beginning on where they have just begun, else from
 * now on, since it has just come into their scope. What leaves the scope stays to the end. For the worker login or the scope of one workspace.
 * @param fromStart whether they have just begun
 */
export async function coverSubjects(
  transaction: CommonQueryMethods,
  occurrenceIds: readonly number[],
  fromStart: boolean,
): Promise<void> {
  if (occurrenceIds.length === 0) return;
  await transaction.query(sql.unsafe`
    insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at)
    select w.workspace_id, o.id, s.subject_type, s.subject_id, ${fromStart ? sql.fragment`o.starts_at` : sql.fragment`clock_timestamp()`}
    from maintenance_occurrences o join maintenance_windows w on w.id = o.window_id
      cross join lateral ${subjectRows(sql.fragment`w.workspace_id`)} s
    where o.id = any(${sql.array(occurrenceIds, 'int4')}) and o.ended_at is null and ${isInScope}
      and not exists (
        select from maintenance_subjects h
        where h.occurrence_id = o.id and h.subject_type = s.subject_type and h.subject_id = s.subject_id and h.ended_at is null)
    on conflict (occurrence_id, subject_type, subject_id) where ended_at is null do nothing`);
}
