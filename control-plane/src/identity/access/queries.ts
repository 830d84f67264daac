import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { CredentialKind } from '../durable-credentials/index.ts';

const callerRow = z.object({
  user_id: z.number().nullable(),
  is_administrator: z.boolean().nullable(),
  plan: z.enum(['free', 'paid', 'self_hosted']).nullable(),
  /** Role by workspace. */
  roles: z.record(z.string(), z.enum(['owner', 'editor', 'viewer'])).nullable(),
  read_only: z.boolean().nullable(),
  /** What a personal access token is limited to. */
  scopes: z.array(z.string()).nullable(),
  /** The credential names the workspaces that it is for. */
  is_limited: z.boolean(),
});
export type CallerRow = z.output<typeof callerRow>;

/** Who has the session, as it stands now; nulls when it does not live. Before the tenant is known. */
export async function callerOfSession(pool: DatabasePool, sessionId: string): Promise<CallerRow> {
  return pool.one(sql.prepared('caller-of-session', callerRow)`
    select user_id, is_administrator, plan, roles, false as read_only, null::text[] as scopes, false as is_limited from identity_caller_of_session(${sessionId}::uuid)
  `);
}

const lookups = { api_keys: 'identity_caller_of_api_key', access_tokens: 'identity_caller_of_access_token' } as const;

/** Who has the API key or personal access token, as it stands now; nulls when it does not live. Before the tenant is known. */
export async function callerOfCredential(
  pool: DatabasePool,
  { table, hasScopes }: Pick<CredentialKind, 'table' | 'hasScopes'>,
  hash: Buffer,
): Promise<CallerRow> {
  const scopes = hasScopes
    ? sql.fragment`identity_scopes_of_access_token(${sql.binary(hash)})`
    : sql.fragment`null::text[]`;
  return pool.one(sql.prepared(`caller-of-${table}${hasScopes ? '-scopes' : ''}`, callerRow)`
    select user_id, is_administrator, plan, roles, read_only, ${scopes} as scopes,
      identity_credential_is_limited(${sql.binary(hash)}) as is_limited
    from ${sql.identifier([lookups[table]])}(${sql.binary(hash)})
  `);
}
