import { endSessionRoute, listSessionsRoute, Problem } from '@parallax/api-contract';
import type { Session } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { recordAudit } from '../../audit/index.ts';
import { endOwnSession, listSessions } from './queries.ts';
import type { SessionRow } from './queries.ts';

/** The sessions of a user: where they are signed in, and ending one. */
export function sessionRoutes(context: Context): readonly Route[] {
  return [
    handle(listSessionsRoute, async ({ caller, query }) => {
      const { page, page_size } = query;
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, async (transaction) =>
        listSessions(scope, transaction, { limit: page_size, offset: (page - 1) * page_size }),
      );
      return { sessions: rows.map((row) => sessionAnswer(row, caller.sessionId)), total, page, page_size };
    }),
    handle(endSessionRoute, async ({ caller, params, request }) => {
      const scope = scopeOf(caller);
      const subjectId = params.session_id;
      await inScope(context.database.api, scope, async (transaction) => {
        if (!(await endOwnSession(scope, transaction, subjectId))) {
          throw new Problem('not_found', 'you have no such session, or it has ended');
        }
        const event = { action: 'session.ended', subjectType: 'session', subjectId };
        await recordAudit(transaction, caller, request, event);
      });
    }),
  ];
}

function sessionAnswer(row: SessionRow, currentId: string | undefined): Session {
  return {
    ...row,
    created_at: new Date(row.created_at).toISOString(),
    last_used_at: new Date(row.last_used_at).toISOString(),
    expires_at: new Date(row.expires_at).toISOString(),
    is_current: row.id === currentId,
  };
}
