import type { Context } from '../../../../context.ts';
import { sql } from '../../../../platform/database/pools.ts';
import { inScope } from '../../../../platform/database/scope.ts';
import type { RequestFacts } from '../../../../platform/http/handler.ts';
import { makeHeartbeat, newCredentials } from '../../gateway.ts';
import { lockSlugs } from '../../queries.ts';
import { madeByPing } from '../made.ts';

/** Makes the heartbeat of a slug for whoever has the ping key of its workspace. Of two at once one makes it, and both signals count. */
export async function makeByPing(
  context: Context,
  request: RequestFacts,
  workspaceId: number,
  slug: string,
): Promise<void> {
  const scope = { userId: null, workspaceIds: [workspaceId] };
  await inScope(context.database.api, scope, async (tx) => {
    const fields = madeByPing(slug);
    const { slugs } = await lockSlugs(scope, tx, workspaceId);
    if (slugs.has(slug)) return;
    const id = await makeHeartbeat(context, scope, tx, workspaceId, { fields, wantsExactly: false }, newCredentials());
    if (id === null) return;
    await tx.query(sql.unsafe`
      insert into audit_log (workspace_id, actor, action, subject_type, subject_id, detail, remote_address, request_id)
      values (${workspaceId}, 'system', 'heartbeat.created', 'heartbeat', ${String(id)}, ${sql.jsonb({ name: slug, by: 'ping' })},
        ${request.remoteAddress}, ${request.requestId})`);
  });
}
