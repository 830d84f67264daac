import {
  listPushSubscriptionsRoute,
  Problem,
  subscribePushRoute,
  unsubscribePushRoute,
  vapidPublicKeyRoute,
} from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { recordAudit } from '../../identity/audit/index.ts';
import { inScope } from '../../platform/database/scope.ts';
import { scopeOf } from '../../platform/http/caller.ts';
import { AlternativeAnswer, handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { endpointHash } from './endpoint.ts';
import { answerOf, subscribe, vapidKeys } from './gateway.ts';
import type { OnSubscribed } from './gateway.ts';
import { listSubscriptions, removeSubscription } from './queries.ts';

/** Routes below `/web-push`. */
export function webPushRoutes(context: Context, onSubscribed: readonly OnSubscribed[]): Route[] {
  return [
    handle(vapidPublicKeyRoute, async () => ({ public_key: (await vapidKeys(context)).publicKey })),

    handle(listPushSubscriptionsRoute, async ({ query: { page, page_size }, caller }) => {
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, (tx) =>
        listSubscriptions(scope, tx, { limit: page_size, offset: (page - 1) * page_size }),
      );
      return { subscriptions: rows.map(answerOf), total, page, page_size };
    }),

    handle(subscribePushRoute, async ({ body, caller, request }) => {
      const { row, isNew } = await subscribe(context, { caller, request }, body, onSubscribed);
      return isNew ? answerOf(row) : new AlternativeAnswer(answerOf(row));
    }),

    handle(unsubscribePushRoute, async ({ body, caller, request }) => {
      const scope = scopeOf(caller);
      const which = body.id === undefined ? { endpointHash: endpointHash(spelled(body.endpoint)) } : { id: body.id };
      await inScope(context.database.api, scope, async (tx) => {
        const removed = await removeSubscription(scope, tx, which);
        if (removed === null) throw new Problem('not_found', 'there is no such subscription');
        const event = { action: 'push_subscription.deleted', subjectType: 'push_subscription', subjectId: removed.id };
        await recordAudit(tx, caller, request, { ...event, detail: { name: removed.name } });
      });
      return { message: 'the browser is told no more' };
    }),
  ];
}

/** An endpoint as it was kept when it was subscribed; what is no URL is that of nobody. */
function spelled(endpoint: string | undefined): string {
  return endpoint !== undefined && URL.canParse(endpoint) ? new URL(endpoint).href : '';
}
