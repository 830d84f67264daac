import {
  createWebhookCheckRoute,
  deleteWebhookCheckRoute,
  listWebhookChecksRoute,
  mostWebhookChecks,
  pauseWebhookCheckRoute,
  Problem,
  readWebhookCheckRoute,
  regenerateWebhookSecretRoute,
  resumeWebhookCheckRoute,
  updateWebhookCheckRoute,
  warningsOf,
} from '@parallax/api-contract';
import type { CreateWebhookCheck, ShownWebhookCheck } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { requireRoom } from '../../identity/unconfirmed/index.ts';
import { randomKeyHash } from '../../platform/crypto/random-key.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { deletionOf, entriesOf } from './announce.ts';
import { changeCheck, noCheck, record, seenBy, shown } from './gateway.ts';
import type { Actor } from './gateway.ts';
import {
  countVersion,
  findCheck,
  insertCheck,
  listChecks,
  lockCount,
  markDeleted,
  nextCheckId,
  writeCheck,
  writeState,
} from './queries.ts';
import { expectationOf, stateOf } from './row.ts';
import type { CheckRow } from './row.ts';
import { openSecret, sealSecret, sealSlug, slugKind } from './seal.ts';
import { pause, reschedule, resume } from './state.ts';
import type { Change } from './state.ts';
import { changedFields, createdValues, newSecret, updatedValues } from './values.ts';

/** Creating, reading, changing, pausing and deleting webhook checks, and their secrets. */
export function checkRoutes(context: Context): Route[] {
  return [
    handle(listWebhookChecksRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, (tx) =>
        listChecks(scope, tx, query, context.now()),
      );
      const checks = rows.map((row) => seenBy(context, caller, row));
      return { webhook_checks: checks, total, page: query.page, page_size: query.page_size };
    }),

    handle(createWebhookCheckRoute, async ({ body, caller, request }) => {
      requireRole(caller, body.workspace_id, 'editor');
      return createCheck(context, { caller, request }, body);
    }),

    handle(readWebhookCheckRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      const row = await inScope(context.database.api, scope, (tx) => findCheck(scope, tx, params.id));
      if (row === null) throw noCheck(params.id);
      return shown(context, { caller, request }, row);
    }),

    handle(updateWebhookCheckRoute, async ({ params, body, caller, request }) => {
      let made: string | null = null;
      let isDropped = false;
      const changed = await changeCheck(context, { caller, request }, params.id, async (tx, row) => {
        const values = updatedValues(row, body, () =>
          row.sealed_secret === null ? null : openSecret(context.sealer, row.id, row.sealed_secret),
        );
        const fields = changedFields(row, values);
        if (fields.length === 0) return null;
        const { secret, isMade, ...plain } = values;
        if (isMade) made = secret ?? null;
        const isKept = secret === undefined;
        // One that was sent takes the place of the stored one, as was asked for.
        isDropped = row.sealed_secret !== null && !isKept && body.secret === undefined;
        await writeCheck(tx, row.id, {
          ...plain,
          sealed_secret: isKept
            ? row.sealed_secret
            : secret === null
              ? null
              : sealSecret(context.sealer, row.id, secret),
          // A secret that was set ends its predecessor, and its predecessor's predecessor.
          sealed_previous: isKept && plain.signature === row.signature ? row.sealed_previous : null,
          previous_until: isKept && plain.signature === row.signature ? row.previous_until : null,
        });
        const state = stateOf(row);
        await writeState(tx, row, state, reschedule(expectationOf(values), state, context.now()));
        return { action: 'webhook_check.updated', detail: { fields } };
      });
      if (changed === undefined) throw noCheck(params.id);
      return { ...changed, secret: made, ...warningsOf(isDropped ? ['/secret'] : []) };
    }),

    handle(deleteWebhookCheckRoute, async ({ params, caller, request }) => {
      await changeCheck(context, { caller, request }, params.id, async (tx, row) => {
        await markDeleted(tx, row.id);
        await enqueue(tx, deletionOf(row, row.status, context.now()));
        return { action: 'webhook_check.deleted', detail: { name: row.name }, isTold: true };
      });
    }),

    handle(pauseWebhookCheckRoute, ({ params, caller, request }) =>
      switchCheck(context, { caller, request }, params.id, 'webhook_check.paused', (row, nowMs) =>
        pause(stateOf(row), nowMs),
      ),
    ),

    handle(resumeWebhookCheckRoute, ({ params, caller, request }) =>
      switchCheck(context, { caller, request }, params.id, 'webhook_check.resumed', (row, nowMs) =>
        resume(expectationOf(row), stateOf(row), nowMs),
      ),
    ),

    handle(regenerateWebhookSecretRoute, async ({ params, body, caller, request }) => {
      let made: string | null = null;
      const changed = await changeCheck(context, { caller, request }, params.id, async (tx, row) => {
        if (row.signature === 'none') {
          throw new Problem('conflict', 'deliveries to this check are not signed; give it a signature first');
        }
        const { secret, isMade } = newSecret(row.signature, body?.secret ?? undefined);
        if (secret == null) throw new Error('a signed webhook check needs a secret');
        if (isMade) made = secret;
        const graceSeconds = body?.grace_seconds ?? 0;
        await writeCheck(tx, row.id, {
          ...row,
          sealed_secret: sealSecret(context.sealer, row.id, secret),
          sealed_previous: graceSeconds > 0 ? row.sealed_secret : null,
          previous_until: graceSeconds > 0 ? context.now() + graceSeconds * 1_000 : null,
        });
        return { action: 'webhook_check.secret_regenerated', detail: { grace_seconds: graceSeconds } };
      });
      if (changed === undefined) throw noCheck(params.id);
      return { ...changed, secret: made };
    }),
  ];
}

async function createCheck(context: Context, actor: Actor, body: CreateWebhookCheck): Promise<ShownWebhookCheck> {
  const scope = scopeOf(actor.caller);
  const slug = slugKind.make();
  const { row, made } = await inScope(context.database.api, scope, async (tx) => {
    if ((await lockCount(scope, tx, body.workspace_id)) >= mostWebhookChecks) {
      const detail = `the workspace has ${mostWebhookChecks} webhook checks; delete one first`;
      throw new Problem('too_many_webhook_checks', detail);
    }
    await requireRoom(context, tx, 'webhook_checks', new Map([[body.workspace_id, 1]]));
    const { secret, isMade, ...plain } = createdValues(body);
    const id = await nextCheckId(tx);
    const place = {
      id,
      workspaceId: body.workspace_id,
      slugHash: randomKeyHash(slug),
      sealedSlug: sealSlug(context.sealer, id, slug),
    };
    const sealed = secret == null ? null : sealSecret(context.sealer, id, secret);
    const values = { ...plain, sealed_secret: sealed, sealed_previous: null, previous_until: null };
    await insertCheck(tx, place, values, context.now());
    const check = { id, workspace_id: body.workspace_id };
    await record(tx, actor, check, { action: 'webhook_check.created', detail: { name: body.name } });
    return { row: await findCheck(scope, tx, id), made: isMade ? (secret ?? null) : null };
  });
  if (row === null) throw new Error('a webhook check was written and is not there');
  actor.request.reply.header('location', `/api/v1/webhook-checks/${row.id}`);
  return { ...shown(context, actor, row), secret: made };
}

async function switchCheck(
  context: Context,
  actor: Actor,
  checkId: number,
  action: string,
  decide: (row: CheckRow, nowMs: number) => Change | null,
) {
  const changed = await changeCheck(context, actor, checkId, async (tx, row) => {
    const nowMs = context.now();
    const change = decide(row, nowMs);
    if (change === null) return null;
    await writeState(tx, row, stateOf(row), change.state);
    await countVersion(tx, row.id);
    await enqueue(tx, ...entriesOf(row, change, nowMs));
    return { action, isTold: true };
  });
  if (changed === undefined) throw noCheck(checkId);
  return changed;
}
