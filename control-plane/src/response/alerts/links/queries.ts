import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { LinkRequest } from '../channels-gateway.ts';

/** Keeps links by the hashes of their tokens, in one statement. Their pages speak the language of the target. For the worker login. */
export async function insertLinks(
  worker: CommonQueryMethods,
  links: readonly (Pick<LinkRequest, 'workspaceId' | 'occasionId' | 'targetKey' | 'title'> & {
    readonly hash: Buffer;
  })[],
): Promise<void> {
  if (links.length === 0) return;
  const rows = links.map((link) => [
    link.hash.toString('hex'),
    link.workspaceId,
    String(link.occasionId),
    link.targetKey,
    link.title,
  ]);
  // An occasion that is gone meanwhile has no link.
  await worker.query(sql.unsafe`
    insert into alert_links (token_hash, workspace_id, occasion_id, target_key, title, locale, timezone)
    select decode(given.hash, 'hex'), given.workspace_id, o.id, given.target_key, given.title, coalesce(t.target ->> 'locale', u.locale, 'en'),
      coalesce(t.target ->> 'timezone', u.timezone, 'UTC')
    from ${sql.unnest(rows, ['text', 'int4', 'int8', 'text', 'text'])} as given (hash, workspace_id, occasion_id, target_key, title)
    join alert_occasions o on o.id = given.occasion_id
    left join alert_told t on t.occasion_id = o.id and t.target_key = given.target_key
    left join users u on u.id = t.owner_id`);
}

const linkRow = z.object({
  workspace_id: z.number(),
  occasion_id: z.bigint(),
  target_key: z.string(),
  locale: z.enum(['en', 'ru']),
  timezone: z.string(),
  title: z.string(),
  incident_id: z.number().nullable(),
  is_lasting: z.boolean(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  acknowledged_at: z.number().nullable(),
  snoozed_until: z.number().nullable(),
});
/** What a token opens. Times are milliseconds since the epoch. */
export type LinkRow = z.output<typeof linkRow>;

/** What a token opens; null for none. Before the tenant is known. */
export async function findLink(pool: DatabasePool, hash: Buffer): Promise<LinkRow | null> {
  return pool.maybeOne(sql.type(linkRow)`
    select workspace_id, occasion_id, target_key, locale, timezone, title, incident_id, is_lasting, started_at, ended_at,
      acknowledged_at, snoozed_until
    from identity_alert_link(${sql.binary(hash)})`);
}
