import {
  createWebhookRoute,
  deleteWebhookRoute,
  listWebhooksRoute,
  Problem,
  readWebhookRoute,
  rotateWebhookSecretRoute,
  updateWebhookRoute,
  webhookLimits,
} from '@parallax/api-contract';
import type { CreateWebhook, ShownWebhook, UpdateWebhook } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { makeSigningPair, makeStandardSecret } from '../../platform/crypto/webhook-signature.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { missingOf, requireFound, sameCovered, scopeOfBody } from '../maintenance/index.ts';
import { changeWebhook, noWebhook, readWebhook, record, seenBy, shown } from './gateway.ts';
import type { Actor, Done } from './gateway.ts';
import {
  findWebhook,
  insertWebhook,
  listWebhooks,
  lockCount,
  markDeleted,
  nextWebhookId,
  writeKeys,
  writeWebhook,
} from './queries.ts';
import { coveredOf } from './row.ts';
import type { WebhookRow } from './row.ts';
import { openSecrets, sealSecrets } from './seal.ts';
import { missQueued } from './upkeep/queries.ts';
import { changedValues, createdValues } from './values.ts';

/** Creating, reading, changing and deleting webhooks, and their secrets. */
export function webhookRoutes(context: Context): Route[] {
  return [
    handle(listWebhooksRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, (tx) => listWebhooks(scope, tx, query));
      const webhooks = rows.map((row) => seenBy(context, caller, row));
      return { webhooks, total, page: query.page, page_size: query.page_size };
    }),

    handle(createWebhookRoute, async ({ body, caller, request }) => {
      requireRole(caller, body.workspace_id, 'editor');
      return create(context, { caller, request }, body);
    }),

    handle(readWebhookRoute, async ({ params, caller, request }) =>
      shown(context, { caller, request }, await readWebhook(context, caller, params.id)),
    ),

    handle(updateWebhookRoute, async ({ params, body, caller, request }) => {
      const actor = { caller, request };
      const row = await changeWebhook(context, actor, params.id, (_scope, tx, before) =>
        update(context, tx, before, body),
      );
      if (row === null) throw noWebhook(params.id);
      if (!row.is_active && row.queued > 0) {
        // Apart from the change: who notes outcomes locks deliveries first and their webhook after them.
        await missQueued(context.database.worker, [row.id]);
        return shown(context, actor, await readWebhook(context, caller, row.id));
      }
      return shown(context, actor, row);
    }),

    handle(deleteWebhookRoute, async ({ params, caller, request }) => {
      await changeWebhook(context, { caller, request }, params.id, async (_scope, tx, row) => {
        await markDeleted(tx, row.id);
        return { action: 'webhook.deleted', detail: { name: row.name } };
      });
    }),

    handle(rotateWebhookSecretRoute, async ({ params, body, caller, request }) => {
      const secret = body?.secret ?? makeStandardSecret();
      const pair = makeSigningPair();
      const graceSeconds = body?.grace_seconds ?? 0;
      const row = await changeWebhook(context, { caller, request }, params.id, async (_scope, tx, before) => {
        const old = openSecrets(context.sealer, before.id, before.sealed);
        const previous = graceSeconds > 0 ? { secret: old.secret, key: old.key } : null;
        const sealed = sealSecrets(context.sealer, before.id, { ...old, secret, key: pair.privateKey, previous });
        const until = graceSeconds > 0 ? context.now() + graceSeconds * 1_000 : null;
        await writeKeys(tx, before.id, { sealed, publicKey: pair.publicKey }, until);
        return { action: 'webhook.secret_rotated', detail: { grace_seconds: graceSeconds } };
      });
      if (row === null) throw noWebhook(params.id);
      return { secret, public_key: pair.publicKey };
    }),
  ];
}

async function create(context: Context, actor: Actor, body: CreateWebhook): Promise<ShownWebhook> {
  const scope = scopeOf(actor.caller);
  const workspaceId = body.workspace_id;
  const covered = scopeOfBody(body.scope ?? { all: true });
  const secret = body.secret ?? makeStandardSecret();
  const pair = makeSigningPair();
  const row = await inScope(context.database.api, scope, async (tx) => {
    if ((await lockCount(scope, tx, workspaceId)) >= webhookLimits.ofWorkspace) {
      throw new Problem(
        'too_many_webhooks',
        `the workspace has ${webhookLimits.ofWorkspace} webhooks; delete one first`,
      );
    }
    requireFound(workspaceId, covered, await missingOf(tx, workspaceId, covered));
    const id = await nextWebhookId(tx);
    const { url, headers } = body;
    const sealed = sealSecrets(context.sealer, id, { url, headers, secret, key: pair.privateKey, previous: null });
    const place = { id, workspaceId, makerId: actor.caller.userId };
    await insertWebhook(tx, place, { sealed, publicKey: pair.publicKey }, createdValues(body), covered);
    const made = { id, workspace_id: workspaceId };
    await record(tx, actor, made, { action: 'webhook.created', detail: { name: body.name } });
    return findWebhook(scope, tx, id);
  });
  if (row === null) throw new Error('a webhook was written and is not there');
  actor.request.reply.header('location', `/api/v1/webhooks/${row.id}`);
  return { ...shown(context, actor, row), secret };
}

async function update(context: Context, tx: Transaction, row: WebhookRow, body: UpdateWebhook): Promise<Done | null> {
  const { values, secrets, fields } = changedValues(row, openSecrets(context.sealer, row.id, row.sealed), body);
  const before = coveredOf(row);
  const covered = body.scope === undefined ? undefined : scopeOfBody(body.scope, before);
  if (covered !== undefined) requireFound(row.workspace_id, covered, await missingOf(tx, row.workspace_id, covered));
  const changed = covered === undefined || sameCovered(covered, before) ? undefined : covered;
  if (fields.length === 0 && changed === undefined) return null;
  await writeWebhook(tx, row, sealSecrets(context.sealer, row.id, secrets), values, changed);
  return {
    action: 'webhook.updated',
    detail: { fields: [...fields, ...(changed === undefined ? [] : ['scope'])] },
  };
}
