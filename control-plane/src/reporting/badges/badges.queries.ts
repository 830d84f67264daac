import { badgeTypes } from '@parallax/api-contract';
import type { BadgeType } from '@parallax/api-contract';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

const badgeRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  type: z.enum(badgeTypes),
  subject_id: z.number(),
  name: z.string(),
  key_hash: z.instanceof(Buffer),
  sealed_key: z.instanceof(Buffer),
  created_at: z.number(),
  rotated_at: z.number().nullable(),
});
/** A badge as it is stored, with the name of its subject. Times are milliseconds since the epoch. */
export type BadgeRow = z.output<typeof badgeRow>;

/** Where each type is. */
const tables: Readonly<Record<BadgeType, { readonly table: string; readonly column: string }>> = {
  monitor: { table: 'monitors', column: 'monitor_id' },
  heartbeat: { table: 'heartbeats', column: 'heartbeat_id' },
  webhook_check: { table: 'webhook_checks', column: 'webhook_check_id' },
  page: { table: 'status_pages', column: 'page_id' },
};

/** Badges with their subjects, those that were deleted left out. */
const shown = (scope: Scope) => sql.fragment`(
  select b.id, b.workspace_id, s.type, s.id as subject_id, s.name, b.key_hash, b.sealed_key, b.created_at, b.rotated_at
  from badges b cross join lateral (
    ${sql.join(
      badgeTypes.map((type) => {
        const { table, column } = tables[type];
        return sql.fragment`select ${type}::text as type, o.id, o.name from ${sql.identifier([table])} o
          where o.id = ${sql.identifier(['b', column])} and o.deleted_at is null`;
      }),
      sql.fragment` union all `,
    )}) s
  where b.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')}))`;

/** A badge of the scope, or null. */
export async function findBadge(scope: Scope, connection: CommonQueryMethods, id: number): Promise<BadgeRow | null> {
  return connection.maybeOne(sql.type(badgeRow)`select * from ${shown(scope)} b where b.id = ${id}`);
}

/** A badge of the scope, locked until the transaction ends. */
export async function lockBadge(scope: Scope, tx: Transaction, id: number): Promise<BadgeRow | null> {
  await tx.query(sql.unsafe`
    select from badges where id = ${id} and workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')}) for no key update`);
  // In a statement of its own, which sees what the one waited for has done.
  return findBadge(scope, tx, id);
}

export type BadgeFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly workspace_id?: number | undefined;
  readonly type?: BadgeType | undefined;
};

/** One page of the badges of the scope, the newest first, and how many match. */
export async function listBadges(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: BadgeFilter,
): Promise<{ readonly rows: readonly BadgeRow[]; readonly total: number }> {
  const { workspace_id: workspaceId = null, type = null } = filter;
  const matching = sql.fragment`from ${shown(scope)} b
    where (${workspaceId}::integer is null or b.workspace_id = ${workspaceId}) and (${type}::text is null or b.type = ${type})`;
  const total = await connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`,
  );
  const rows = await connection.any(sql.type(badgeRow)`
    select b.* ${matching} order by b.id desc limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size}`);
  return { rows, total };
}

/** Whether a workspace has such a subject, which then stays until the transaction ends. */
export async function holdSubject(
  tx: Transaction,
  workspaceId: number,
  { type, id }: { readonly type: BadgeType; readonly id: number },
): Promise<boolean> {
  return tx.exists(sql.unsafe`
    select from ${sql.identifier([tables[type].table])}
    where id = ${id} and workspace_id = ${workspaceId} and deleted_at is null for key share`);
}

/** Makes the badge of a subject. @returns its identifier, and whether it is new */
export async function insertBadge(
  tx: Transaction,
  workspaceId: number,
  { type, id }: { readonly type: BadgeType; readonly id: number },
  key: { readonly hash: Buffer; readonly sealed: Buffer },
): Promise<{ readonly id: number; readonly isNew: boolean }> {
  const column = sql.identifier([tables[type].column]);
  const made = await tx.maybeOneFirst(sql.typeAlias('id')`
    insert into badges (workspace_id, ${column}, key_hash, sealed_key)
    values (${workspaceId}, ${id}, ${sql.binary(key.hash)}, ${sql.binary(key.sealed)})
    on conflict (${column}) where ${column} is not null do nothing returning id`);
  if (made !== null) return { id: made, isNew: true };
  const known = await tx.oneFirst(sql.typeAlias('id')`
    select id from badges where ${column} = ${id} and workspace_id = ${workspaceId}`);
  return { id: known, isNew: false };
}

/** Gives a badge another key. */
export async function writeKey(
  tx: Transaction,
  id: number,
  { hash, sealed }: { readonly hash: Buffer; readonly sealed: Buffer },
): Promise<void> {
  await tx.query(sql.unsafe`
    update badges set key_hash = ${sql.binary(hash)}, sealed_key = ${sql.binary(sealed)}, rotated_at = clock_timestamp() where id = ${id}`);
}

export async function removeBadge(tx: Transaction, id: number): Promise<void> {
  await tx.query(sql.unsafe`delete from badges where id = ${id}`);
}

const foundRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  type: z.enum(badgeTypes),
  subject_id: z.number(),
  slug: z.string().nullable(),
});
/** What the badge of a key is about. `slug`: of its page while that is published. */
export type FoundBadge = z.output<typeof foundRow>;

/** The badge that a key leads to, in whatever workspace. Its subject may be gone. */
export async function badgeOfKey(api: DatabasePool, keyHash: Buffer): Promise<FoundBadge | null> {
  return api.maybeOne(sql.type(foundRow)`
    select id, workspace_id, type, subject_id, slug from identity_badge(${sql.binary(keyHash)})`);
}
