import { regenerateHeartbeatSecretRoute, regeneratePingKeyRoute } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { recordAudit } from '../../identity/audit/index.ts';
import { exchangePingKey } from '../../identity/workspaces/index.ts';
import { randomKeyHash } from '../../platform/crypto/random-key.ts';
import { inScope } from '../../platform/database/scope.ts';
import { mayReadPingKey, requireRole, scopeOf } from '../../platform/http/caller.ts';
import { etagOf } from '../../platform/http/etag.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { answerOf } from './answer.ts';
import { changeHeartbeat } from './gateway.ts';
import { makeSecret } from './make.ts';
import { noHeartbeat } from './not-found.ts';
import { exchangePingUrls } from './ping-urls.queries.ts';
import type { NewPushUrl } from './ping-urls.queries.ts';
import { writeSecret } from './queries.ts';

/** Exchanging whatever lets somebody send signals: of one heartbeat, or the URLs of a workspace. */
export function pingUrlRoutes(context: Context): Route[] {
  const pushUrl = ({ token }: NewPushUrl): string => `${context.publicUrl}/api/push/${token}`;
  return [
    handle(regenerateHeartbeatSecretRoute, async ({ params, caller, request }) => {
      const secret = makeSecret();
      let pushed: NewPushUrl | undefined;
      const changed = await changeHeartbeat(context, { caller, request }, params.id, async (tx, row) => {
        await writeSecret(tx, row.id, randomKeyHash(secret));
        const exchanged = await exchangePingUrls(scopeOf(caller), tx, context.sealer, 'heartbeat', row.id);
        pushed = exchanged.pushed[0];
        return { action: 'heartbeat.secret_regenerated' };
      });
      if (changed === undefined) throw noHeartbeat(params.id);
      const answer = answerOf(changed, context.sealer, context.publicUrl, {
        uuid: true,
        pingKey: mayReadPingKey(caller, changed.workspace_id),
      });
      return { ...answer, secret, push_url: pushed === undefined ? null : pushUrl(pushed) };
    }),

    handle(regeneratePingKeyRoute, async ({ caller, params, request }) => {
      requireRole(caller, params.id, 'owner');
      const scope = scopeOf(caller);
      const { workspace, exchanged } = await inScope(context.database.api, scope, async (tx) => {
        const changed = await exchangePingKey(scope, tx, params.id, caller);
        const urls = await exchangePingUrls(scope, tx, context.sealer, 'workspace', params.id);
        await recordAudit(tx, caller, request, {
          workspaceId: params.id,
          subjectType: 'workspace',
          subjectId: params.id,
          action: 'workspace.ping_key_regenerated',
          detail: { heartbeats: urls.count },
        });
        return { workspace: changed, exchanged: urls };
      });
      void request.reply.header('etag', etagOf(workspace.version));
      const pushUrls = exchanged.pushed.map((each) => ({
        heartbeat_id: each.heartbeat_id,
        name: each.name,
        push_url: pushUrl(each),
      }));
      return { ...workspace, exchanged_heartbeats: exchanged.count, push_urls: pushUrls };
    }),
  ];
}
