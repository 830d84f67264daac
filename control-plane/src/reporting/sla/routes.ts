import { readSlaRoute } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { scopeOf } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { ofSubject, wantedWindow } from '../statistics/index.ts';
import { slaAnswer } from './answer.ts';
import { correctionRoutes } from './corrections/routes.ts';
import { exportRoutes } from './export/routes.ts';
import { readReport } from './gateway.ts';
import { ledgerRoutes } from './ledger/routes.ts';
import { verifyRoutes } from './verify/routes.ts';

/** Availability against an objective, its files, its corrections and its ledger. */
export function slaRoutes(context: Context): Route[] {
  return [
    handle(readSlaRoute, async ({ params, query, caller }) => {
      const nowMs = context.now();
      const request = { wanted: wantedWindow(query, nowMs), sloTarget: query.slo_target, withChart: false };
      return ofSubject(context, caller, params.monitor_id, async (tx, subject) =>
        slaAnswer(await readReport(tx, scopeOf(caller), subject, request, nowMs)),
      );
    }),
    ...exportRoutes(context),
    ...correctionRoutes(context),
    ...ledgerRoutes(context),
    ...verifyRoutes(context),
  ];
}
