import { randomBytes } from 'node:crypto';
import {
  exampleEvent,
  listDeadLettersRoute,
  listWebhookDeliveriesRoute,
  Problem,
  readWebhookDeliveryRoute,
  redeliverManyRoute,
  redeliverRoute,
  resolveDeadLetterRoute,
  retryDeadLetterRoute,
  testWebhookRoute,
  invalidInput,
  webhookLimits,
  webhookStatsRoute,
} from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { countTrial } from '../../../identity/unconfirmed/index.ts';
import { webhooksSubject } from '../../../platform/bus/subjects.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import type { OutboundStep } from '../../../platform/outbound-http/index.ts';
import { mayChange, noWebhook, readWebhook, record } from '../gateway.ts';
import type { Actor } from '../gateway.ts';
import { factsOf, matches } from '../match.ts';
import { findWebhook } from '../queries.ts';
import type { WebhookRow } from '../row.ts';
import { openSecrets } from '../seal.ts';
import { attemptDelivery } from '../sending/attempt.gateway.ts';
import { quantileOf } from '../sending/outcome.ts';
import { candidatesOf } from '../taker.queries.ts';
import { deadLetterAnswer, deliveryAnswer } from './answer.ts';
import {
  eventsWithout,
  findDelivery,
  insertReplays,
  insertTest,
  isReplaying,
  listDeadLetters,
  listDeliveries,
  lockDelivery,
  queueAgain,
  replayStored,
  resolveLetter,
  statsOf,
} from './queries.ts';
import type { DeliveryRow, Range, StoredDelivery } from './queries.ts';

const noDelivery = (id: number): Problem => new Problem('not_found', `there is no delivery ${id}`);

/** What webhooks were sent: lists, statistics, dead letters. */
export function deliveryRoutes(context: Context): Route[] {
  return [
    handle(listWebhookDeliveriesRoute, async ({ params, query, caller }) => {
      const row = await readWebhook(context, caller, params.id);
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, (tx) =>
        listDeliveries(scope, tx, row.id, query),
      );
      return { deliveries: rows.map(deliveryAnswer), total, page: query.page, page_size: query.page_size };
    }),

    handle(readWebhookDeliveryRoute, async ({ params, caller }) => {
      const webhook = await readWebhook(context, caller, params.id);
      const scope = scopeOf(caller);
      const found = await inScope(context.database.api, scope, (tx) =>
        findDelivery(scope, tx, webhook.id, params.delivery_id),
      );
      if (found === null) throw noDelivery(params.delivery_id);
      const isShown = mayChange(caller, webhook.workspace_id);
      return {
        ...deliveryAnswer(found),
        body: found.body,
        headers: Object.fromEntries(webhook.header_names.map((name) => [name, '***'])),
        attempt_list: found.history.map((entry) => ({ ...entry, answer: isShown ? entry.answer : null })),
      };
    }),

    handle(webhookStatsRoute, async ({ params, query, caller }) => {
      const row = await readWebhook(context, caller, params.id);
      const sinceMs = context.now() - query.hours * 3_600_000;
      const { buckets, ...sums } = await inScope(context.database.api, scopeOf(caller), (tx) =>
        statsOf(tx, row.id, sinceMs),
      );
      const [p50, p95] = [quantileOf(buckets, 0.5), quantileOf(buckets, 0.95)];
      return { hours: query.hours, ...sums, p50, p95, queued: row.queued };
    }),

    handle(listDeadLettersRoute, async ({ params, query, caller }) => {
      const row = await readWebhook(context, caller, params.id);
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, (tx) =>
        listDeadLetters(scope, tx, row.id, query),
      );
      return { dead_letters: rows.map(deadLetterAnswer), total, page: query.page, page_size: query.page_size };
    }),
  ];
}

/** Trying webhooks, and sending deliveries again. */
export function redeliveryRoutes(context: Context): Route[] {
  return [
    handle(testWebhookRoute, async ({ params, body, caller, request }) => {
      const row = await readWebhook(context, caller, params.id);
      requireRole(caller, row.workspace_id, 'editor');
      await countTrial(context, caller);
      const counted = await countOnce(
        context.database.api,
        `webhook-tests:${caller.userId}`,
        context.limits.rate('webhook_test'),
      );
      applyRates(request.reply, [counted], 'tests of webhooks', 'of this account');
      return sendTest(context, { caller, request }, row, body?.event ?? 'webhook.test');
    }),

    handle(redeliverRoute, async ({ params, caller, request }) => {
      const actor = { caller, request };
      const row = await changeDelivery(context, actor, params.id, params.delivery_id, async (tx, webhook, delivery) => {
        requireActive(webhook);
        if (delivery.state === 'queued') throw new Problem('conflict', 'the delivery is queued already');
        await queueAgain(tx, delivery.id, context.now());
        return 'webhook.redelivered';
      });
      context.bus.hint(webhooksSubject, {});
      return deliveryAnswer(row);
    }),

    handle(redeliverManyRoute, async ({ params, body, caller, request }) => {
      const nowMs = context.now();
      const range = {
        sinceMs: Date.parse(body.since),
        untilMs: Math.min(nowMs, Date.parse(body.until ?? '') || nowMs),
      };
      if (range.untilMs <= range.sinceMs) {
        throw invalidInput(
          'body',
          body.until === undefined ? '/since' : '/until',
          'order',
          'must be after since, which must be past',
        );
      }
      const queued = await replay(context, { caller, request }, params.id, range, body.only);
      context.bus.hint(webhooksSubject, {});
      return { queued };
    }),

    handle(retryDeadLetterRoute, async ({ params, caller, request }) => {
      const row = await changeDelivery(
        context,
        { caller, request },
        params.id,
        params.dlq_id,
        async (tx, webhook, letter) => {
          requireLetter(letter);
          if (letter.dlq_status === 'retried')
            throw new Problem('already_retried', 'it is being tried again, or has arrived');
          if (letter.dlq_status === 'resolved')
            throw new Problem('already_resolved', 'it is resolved; redeliver sends it again');
          requireActive(webhook);
          await queueAgain(tx, letter.id, context.now());
          return 'webhook.dead_letter_retried';
        },
      );
      context.bus.hint(webhooksSubject, {});
      return deadLetterAnswer(row);
    }),

    handle(resolveDeadLetterRoute, async ({ params, caller, request }) => {
      const actor = { caller, request };
      const row = await changeDelivery(context, actor, params.id, params.dlq_id, async (tx, _webhook, letter) => {
        requireLetter(letter);
        if (letter.dlq_status === 'retried')
          throw new Problem('already_retried', 'it is being tried again, or has arrived');
        if (letter.dlq_status === 'resolved') return null;
        await resolveLetter(tx, letter.id, caller.userId);
        return 'webhook.dead_letter_resolved';
      });
      return deadLetterAnswer(row);
    }),
  ];
}

function requireActive(webhook: WebhookRow): void {
  if (!webhook.is_active) throw new Problem('webhook_inactive', 'the webhook is switched off; switch it on first');
}

function requireLetter(row: DeliveryRow): void {
  if (row.dlq_status === null) throw noDelivery(row.id);
}

/** A webhook of which the caller may change deliveries. @throws Problem `not_found`, `forbidden` */
async function editable(scope: Scope, tx: Transaction, { caller }: Actor, id: number): Promise<WebhookRow> {
  const row = await findWebhook(scope, tx, id);
  if (row === null) throw noWebhook(id);
  requireRole(caller, row.workspace_id, 'editor');
  return row;
}

/** @param work writes and names its action, null when there was nothing to do */
async function changeDelivery(
  context: Context,
  actor: Actor,
  webhookId: number,
  id: number,
  work: (tx: Transaction, webhook: WebhookRow, delivery: DeliveryRow) => Promise<string | null>,
): Promise<DeliveryRow> {
  const scope = scopeOf(actor.caller);
  return inScope(context.database.api, scope, async (tx) => {
    const webhook = await editable(scope, tx, actor, webhookId);
    const delivery = await lockDelivery(scope, tx, webhookId, id);
    if (delivery === null) throw noDelivery(id);
    const action = await work(tx, webhook, delivery);
    if (action === null) return delivery;
    await record(tx, actor, webhook, { action, detail: { delivery_id: id } });
    return (await findDelivery(scope, tx, webhookId, id)) ?? delivery;
  });
}

async function sendTest(context: Context, actor: Actor, row: WebhookRow, type: Parameters<typeof exampleEvent>[0]) {
  const eventId = `evt_${randomBytes(16).toString('hex')}`;
  const example = { ...exampleEvent(type), workspace_id: row.workspace_id };
  const body = JSON.stringify({ ...example, timestamp: new Date(context.now()).toISOString() });
  const steps: OutboundStep[] = [];
  const attempt = await attemptDelivery(
    { client: context.outbound.guarded, now: context.now, onStep: (step) => steps.push(step) },
    {
      eventId,
      body,
      secrets: openSecrets(context.sealer, row.id, row.sealed),
      signature: row.signature,
      content: row.content,
      previousUntilMs: row.previous_until,
    },
  );
  const id = await inScope(context.database.api, scopeOf(actor.caller), (tx) =>
    insertTest(tx, { workspaceId: row.workspace_id, webhookId: row.id, eventId, type, body, attempt }),
  );
  const ok = attempt.errorCode === null;
  return {
    ok,
    delivery_id: id,
    status_code: attempt.statusCode,
    steps: [
      ...steps.map(({ name, ok, durationMs, detail }) => ({ name, ok, duration_ms: durationMs, detail })),
      { name: 'result', ok, duration_ms: 0, detail: attempt.error ?? 'the receiver took the delivery' },
    ],
  };
}

async function replay(context: Context, actor: Actor, id: number, range: Range, only: StoredDelivery): Promise<number> {
  const scope = scopeOf(actor.caller);
  const most = webhookLimits.queued;
  const tooMany = () =>
    new Problem('range_too_large', `the range holds more than ${most} deliveries; ask for a shorter one`, {
      errors: [{ in: 'body', path: '/since', code: 'range_too_large', message: `more than ${most} deliveries` }],
    });
  return inScope(context.database.api, scope, async (tx) => {
    const webhook = await editable(scope, tx, actor, id);
    requireActive(webhook);
    if (await isReplaying(tx, id)) throw new Problem('conflict', 'a replay of this webhook is under way');
    const nowMs = context.now();
    const stored = await replayStored(tx, id, range, only, nowMs, most);
    if (stored > most) throw tooMany();
    let queued = stored;
    if (only === 'all') {
      const [filters] = await candidatesOf(tx, { webhookId: id });
      const past = await eventsWithout(tx, webhook.workspace_id, id, range, most - stored + 1);
      if (stored + past.length > most) throw tooMany();
      const wanted = past.filter((event) => {
        const { type, subject_type: subjectType, subject_id: subjectId, data: body } = event;
        return filters !== undefined && matches(filters, factsOf({ type, subjectType, subjectId, body }));
      });
      await insertReplays(tx, { workspaceId: webhook.workspace_id, webhookId: id }, wanted, nowMs);
      queued += wanted.length;
    }
    await record(tx, actor, webhook, { action: 'webhook.replayed', detail: { only, queued } });
    return queued;
  });
}
