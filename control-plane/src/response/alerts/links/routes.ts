import { alertLinkPageRoute, useAlertLinkRoute } from '@parallax/api-contract';
import type { AlertLinkAction } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { AlternativeAnswer, handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { pageLocale } from '../../../platform/http/page.ts';
import { acknowledgeByLink } from '../../incidents/index.ts';
import { snooze } from '../occasions/queries.ts';
import { actionOf, snoozeUntil } from './action.ts';
import { isOpen, linkPage, noLinkPage } from './page.ts';
import type { LinkSubject } from './page.ts';
import { findLink } from './queries.ts';
import type { LinkRow } from './queries.ts';
import { hashOfToken } from './token.ts';

/** The page that messages of alerts lead to: opening it changes nothing, its buttons do. */
export function alertLinkRoutes(context: Context): Route[] {
  const find = async (token: string): Promise<LinkRow | null> => {
    const hash = hashOfToken(token);
    return hash === undefined ? null : findLink(context.database.api, hash);
  };
  const answer = (request: RequestFacts, row: LinkRow | null) => {
    const page =
      row === null
        ? noLinkPage(pageLocale(request.header('accept-language')))
        : linkPage(subjectOf(row), context.now());
    void request.reply.header('content-security-policy', page.policy);
    return row === null ? new AlternativeAnswer(page.html) : page.html;
  };
  return [
    handle(alertLinkPageRoute, async ({ params, request }) => answer(request, await find(params.token))),

    handle(useAlertLinkRoute, async ({ params, bytes, request }) => {
      const row = await find(params.token);
      const action = actionOf(bytes?.bytes);
      if (row === null || action === undefined || !isOpen(subjectOf(row))) return answer(request, row);
      await act(context, request, row, action);
      return answer(request, await find(params.token));
    }),
  ];
}

async function act(context: Context, request: RequestFacts, row: LinkRow, action: AlertLinkAction): Promise<void> {
  const untilMs = snoozeUntil(action, context.now(), row.timezone);
  if (untilMs !== null) {
    const scope = { userId: null, workspaceIds: [row.workspace_id] };
    await inScope(context.database.api, scope, async (tx) => {
      if (!(await snooze(tx, Number(row.occasion_id), row.target_key, untilMs))) return;
      await recordAudit(tx, { kind: 'system', userId: null }, request, {
        action: 'alert.snoozed',
        workspaceId: row.workspace_id,
        subjectType: 'alert_occasion',
        subjectId: Number(row.occasion_id),
        detail: { by: 'link', until: new Date(untilMs).toISOString() },
      });
    });
  } else if (row.incident_id !== null) {
    await acknowledgeByLink(context, request, { workspaceId: row.workspace_id, incidentId: row.incident_id });
  }
}

function subjectOf(row: LinkRow): LinkSubject {
  return {
    locale: row.locale,
    timezone: row.timezone,
    title: row.title,
    incidentId: row.incident_id,
    startedMs: row.started_at,
    endedMs: row.ended_at,
    isLasting: row.is_lasting,
    acknowledgedMs: row.acknowledged_at,
    snoozedUntilMs: row.snoozed_until,
  };
}
