import { alertLimits, Problem, testAlertRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { countTrial } from '../../../identity/unconfirmed/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import { noAlert } from '../rules/gateway.ts';
import { findAlert } from '../rules/queries.ts';
import { tongueOf } from './queries.ts';
import { distinctTargets } from './distinct-targets.ts';
import { keyOf, requireAnySent, sendTest } from './gateway.ts';

/** Trying an alert: each of its targets gets a message at once. */
export function alertTrialRoutes(context: Context): Route[] {
  return [
    handle(testAlertRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      const alert = await inScope(context.database.api, scope, (tx) => findAlert(scope, tx, params.alert_id));
      if (alert === null) throw noAlert(params.alert_id);
      requireRole(caller, alert.workspace_id, 'editor');
      if (alert.owner === null) {
        throw new Problem('conflict', 'the owner of this alert is no member any more; give it new steps first');
      }
      await countTrial(context, caller);
      const rate = context.limits.rate('channel_test');
      const counted = await countOnce(context.database.api, `channel-tests:${caller.userId}`, rate);
      applyRates(request.reply, [counted], 'test messages', 'of this account');
      const tongue = await tongueOf(context.database.worker, alert.owner_id);
      const place = {
        ownerId: alert.owner_id,
        workspaceId: alert.workspace_id,
        alert: { id: alert.id, name: alert.name },
      };
      const targets = distinctTargets(alert, (target) => keyOf(alert.owner_id, target));
      const results = await Promise.all(
        targets.slice(0, alertLimits.testTargets).map((target) => sendTest(context, place, target, tongue)),
      );
      requireAnySent(results);
      return { ok: results.every(({ ok }) => ok), results };
    }),
  ];
}
