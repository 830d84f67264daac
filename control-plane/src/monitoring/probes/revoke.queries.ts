import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

/** Public probes, and the private ones of the scope's workspaces. */
export const ofScope = (scope: Scope) =>
  sql.fragment`(workspace_id is null or workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}))`;

/** Revokes a probe with its certificates and session. Its seats are given to others by the job of the assignments. */
export async function revokeProbe(scope: Scope, tx: Transaction, probeId: number): Promise<boolean> {
  const revoked = await tx.maybeOne(sql.typeAlias('id')`
    update probes set revoked_at = now(), version = version + 1, updated_at = now()
    where id = ${probeId} and revoked_at is null and ${ofScope(scope)} returning id`);
  if (revoked === null) return false;
  await tx.query(sql.unsafe`
    update probe_certificates set revoked_at = now() where probe_id = ${probeId} and revoked_at is null`);
  await tx.query(sql.unsafe`
    update probe_sessions set closed_at = now(), close_reason = 'revoked' where probe_id = ${probeId} and closed_at is null`);
  return true;
}
