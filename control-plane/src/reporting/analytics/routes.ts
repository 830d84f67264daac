import {
  availabilityAnalyticsRoute,
  latencyAnalyticsRoute,
  noisiestMonitorsRoute,
  responseAnalyticsRoute,
  worstMonitorsRoute,
} from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { attachment } from '../../platform/http/attachment.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { handle, OtherText } from '../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../platform/http/handler.ts';
import { keptAnswers } from '../../platform/kept-answers.ts';
import { iso } from '../statistics/index.ts';
import { readAvailabilitySeries } from './availability.gateway.ts';
import { availabilityCsv, latencyCsv, noisiestCsv, responseCsv, worstCsv } from './csv.ts';
import { readLatencySeries } from './latency.gateway.ts';
import { noisiestMonitors } from './noise.queries.ts';
import { askedWindow } from './question.ts';
import { readResponse } from './response.gateway.ts';
import { readWorst } from './worst.gateway.ts';

/** Answers are kept for this long, and no more of them than this. */
const keepMs = 10_000;
const mostEntries = 200;

type Asked = { readonly caller: Caller; readonly request: RequestFacts };
type Query = { readonly workspace_id?: number | undefined };

/** What many monitors come to together. */
export function analyticsRoutes(context: Context): Route[] {
  const kept = keptAnswers({ keepMs, mostEntries, now: context.now });

  /** Answers as JSON or CSV, from what those who see the same workspaces have asked a moment ago where there is such. */
  const answered = async <Asking extends Query, Answer>(
    { caller, request }: Asked,
    name: string,
    query: Asking,
    read: (scope: Scope, tx: Transaction, query: Asking, nowMs: number) => Promise<Answer>,
    csvOf: (answer: Answer) => string,
  ): Promise<Answer | OtherText> => {
    if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
    const scope = scopeOf(caller);
    const seen = scope.workspaceIds.toSorted((one, other) => one - other);
    const answer = await kept.get(JSON.stringify([name, seen, query]), () =>
      inScope(context.database.api, scope, (tx) => read(scope, tx, query, Math.floor(context.now()))),
    );
    if (!wantsCsv(request)) return answer;
    request.reply.header('content-disposition', attachment(`${name}.csv`));
    return new OtherText(csvOf(answer), 'text/csv; charset=utf-8');
  };

  return [
    handle(availabilityAnalyticsRoute, ({ query, ...asked }) =>
      answered(asked, 'availability', query, readAvailabilitySeries, availabilityCsv),
    ),
    handle(latencyAnalyticsRoute, ({ query, ...asked }) =>
      answered(asked, 'response times', query, readLatencySeries, latencyCsv),
    ),
    handle(worstMonitorsRoute, ({ query, ...asked }) => answered(asked, 'worst monitors', query, readWorst, worstCsv)),
    handle(noisiestMonitorsRoute, ({ query, ...asked }) =>
      answered(
        asked,
        'noisiest monitors',
        query,
        async (scope, tx, { workspace_id: workspaceId, metric, limit, ...times }, nowMs) => {
          const window = askedWindow(times, nowMs);
          const monitors = await noisiestMonitors(scope, tx, { workspaceId, metric, limit }, window);
          return {
            from: iso(window.fromMs),
            to: iso(window.toMs),
            as_of: iso(nowMs),
            metric,
            monitors: [...monitors],
          };
        },
        noisiestCsv,
      ),
    ),
    handle(responseAnalyticsRoute, ({ query, ...asked }) =>
      answered(asked, 'response', query, readResponse, responseCsv),
    ),
  ];
}

function wantsCsv(request: RequestFacts): boolean {
  const accept = request.header('accept') ?? '';
  return /\btext\/csv\b/.test(accept) && !/\bapplication\/json\b/.test(accept);
}
