import { randomBytes } from 'node:crypto';
import { Problem, receiveWebhookRoute } from '@parallax/api-contract';
import type { RefusalReason } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { outboxSubject } from '../../../platform/bus/subjects.ts';
import { randomKeyHash } from '../../../platform/crypto/random-key.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { clientNetwork } from '../../../platform/http/client-address.ts';
import { AlternativeAnswer, handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { entriesOf } from '../announce.ts';
import { keptBody } from '../payload.ts';
import { writeState } from '../queries.ts';
import { expectationOf, stateOf } from '../row.ts';
import { sealSecret, signingOf } from '../seal.ts';
import { makeSecret } from '../signatures/secret.ts';
import { refusalOf } from '../signatures/verify.ts';
import type { Delivery } from '../signatures/verify.ts';
import { deliver } from '../state.ts';
import { tell } from './accept.ts';
import type { Told } from './accept.ts';
import { headersOf } from './headers.ts';
import { findReceiver, insertEvent, lockStateOf, wasDelivered } from './queries.ts';
import type { ReceiverRow } from './queries.ts';

/** For so long the same delivery counts once. */
const duplicateMs = 86_400_000;

const noBytes = Buffer.alloc(0);

/** Refused deliveries that wait to be written down in this process; those above are not. */
const mostWaiting = 8;

/**
 * Where other services deliver to. Nothing of an answer but a success tells whether there is a check behind a URL: the same look-up, unsealing and HMAC
 * are done for a stand-in, and what is kept of a refused delivery is written after the answer.
 */
export function receiverRoutes(context: Context): Route[] {
  const standIn = randomBytes(32);
  let nobody: ReceiverRow | undefined;
  const keepRefused = refusedKeeper(context);
  return [
    handle(receiveWebhookRoute, async ({ params, bytes, request }) => {
      const nowMs = context.now();
      const body = bytes?.bytes ?? noBytes;
      const delivery: Delivery = { headers: headersOf(request.reply.request.raw.rawHeaders), body };
      const found = await findReceiver(context.database.api, randomKeyHash(params.slug));
      nobody ??= madeUp(context);
      const refusal = refusalOf(signingOf(context.sealer, found ?? nobody, standIn, nowMs), delivery, nowMs);
      if (found === null || refusal !== null) {
        await limitRefused(context, request);
        if (found !== null && refusal !== null) keepRefused(found, refusal, delivery, request, nowMs);
        throw refused();
      }
      const rate = context.limits.rate('webhook_delivery');
      const counted = await countOnce(context.database.api, `webhook-check:${found.id}`, rate);
      applyRates(request.reply, [counted], 'deliveries', 'to this check');
      const told = tell(found, delivery);
      const isTold = await accept(context, found, told, body.length, request.remoteAddress, nowMs);
      if (isTold) context.bus.hint(outboxSubject, {});
      const { greeting } = told;
      return greeting?.reason === 'url_verification' ? new AlternativeAnswer({ challenge: greeting.challenge }) : {};
    }),
  ];
}

/** What deliveries to a URL of no check are judged by; none fits it. */
function madeUp({ sealer }: Pick<Context, 'sealer'>): ReceiverRow {
  return {
    id: 0,
    workspace_id: 0,
    signature: 'standard',
    custom_hmac: null,
    sealed_secret: sealSecret(sealer, 0, makeSecret('standard')),
    sealed_previous: null,
    previous_until: null,
    rules: [],
  };
}

function refused(): Problem {
  return new Problem('not_found', 'there is no webhook check at this URL, or the delivery is not signed as it asks');
}

/** Counts a refused delivery, of whatever check or none. One that is rightly signed never waits for others of its address. */
async function limitRefused(context: Context, request: RequestFacts): Promise<void> {
  const key = `webhook-refused:${clientNetwork(request.remoteAddress)}`;
  const state = await countOnce(context.database.api, key, context.limits.rate('webhook_refused'));
  applyRates(request.reply, [state], 'refused deliveries', 'from this address');
}

const scopeOfCheck = (check: { readonly workspace_id: number }): Scope => ({
  userId: null,
  workspaceIds: [check.workspace_id],
});

/**
 * Keeps a delivery and what it makes of its check, in one transaction. @returns whether others are told of a change
 * @throws Problem `not_found` when the check was deleted meanwhile
 */
async function accept(
  context: Context,
  receiver: ReceiverRow,
  told: Told,
  bodyBytes: number,
  remoteAddress: string,
  nowMs: number,
): Promise<boolean> {
  const scope = scopeOfCheck(receiver);
  return inScope(context.database.api, scope, async (tx) => {
    const row = await lockStateOf(scope, tx, receiver.id);
    if (row === null) throw refused();
    const { deliveryId } = told;
    const isDuplicate = deliveryId !== null && (await wasDelivered(scope, tx, row.id, deliveryId, nowMs - duplicateMs));
    const isPaused = row.status === 'paused' && told.reason === null;
    const reason = isDuplicate ? 'duplicate' : isPaused ? 'paused' : told.reason;
    const status = reason === null ? told.status : null;
    const eventId = await insertEvent(scope, tx, row, {
      receivedMs: nowMs,
      deliveryId,
      accepted: true,
      reason,
      status,
      rule: reason === null ? told.rule : null,
      body: isDuplicate ? null : told.body,
      bodyBytes,
      remoteAddress,
    });
    if (isDuplicate || told.greeting !== undefined) return false;
    const before = stateOf(row);
    const change = deliver(expectationOf(row), before, status, nowMs);
    await writeState(tx, row, before, change.state);
    const rule = told.rule === null ? undefined : receiver.rules[told.rule];
    const facts = { event_id: eventId, delivery_id: deliveryId, ...(rule === undefined ? {} : { rule }) };
    await enqueue(tx, ...entriesOf(row, change, nowMs, facts));
    return change.announcements.length > 0;
  });
}

type KeepRefused = (
  receiver: ReceiverRow,
  reason: RefusalReason,
  delivery: Delivery,
  request: RequestFacts,
  nowMs: number,
) => void;

/** Writes refused deliveries down for who looks for the fault, once they are answered; without a promise, so that a flood costs the database little. */
function refusedKeeper(context: Context): KeepRefused {
  let waiting = 0;
  return (receiver, reason, { body }, { reply, remoteAddress }, nowMs) => {
    if (waiting >= mostWaiting) return;
    waiting += 1;
    const scope = scopeOfCheck(receiver);
    const kept = keptBody(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
    const event = {
      receivedMs: nowMs,
      deliveryId: null,
      accepted: false,
      reason,
      status: null,
      rule: null,
      body: kept,
      bodyBytes: body.byteLength,
      remoteAddress,
    };
    const keep = (): void => {
      inScope(context.database.api, scope, (tx) => insertEvent(scope, tx, receiver, event))
        .catch((error: unknown) => context.log.debug({ err: error }, 'a refused delivery was not kept'))
        .finally(() => {
          waiting -= 1;
        });
    };
    // Of a client that has gone meanwhile the close was told before: to wait for it would keep its place for ever.
    if (reply.raw.closed) keep();
    else reply.raw.once('close', keep);
  };
}
