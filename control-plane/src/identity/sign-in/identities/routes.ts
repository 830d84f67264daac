import { listIdentitiesRoute, Problem, removeIdentityRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { requireRecentProof, tellOwner } from '../../accounts/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { accountChangedLetter, keeperOf } from '../../mails/index.ts';
import { countWaysIn, listIdentities, removeIdentity } from './queries.ts';

/** `/auth/identities`. */
export function identityRoutes(context: Context): readonly Route[] {
  const pool = context.database.api;
  return [
    handle(listIdentitiesRoute, async ({ caller }) => {
      const scope = scopeOf(caller);
      const rows = await inScope(pool, scope, async (transaction) => listIdentities(scope, transaction));
      return {
        identities: rows.map((row) => ({
          ...row,
          created_at: new Date(row.created_at).toISOString(),
          last_used_at: row.last_used_at === null ? null : new Date(row.last_used_at).toISOString(),
        })),
      };
    }),
    handle(removeIdentityRoute, async ({ caller, params, request }) => {
      await requireRecentProof(context, { caller, request });
      const scope = scopeOf(caller);
      await inScope(pool, scope, async (transaction) => {
        const ways = await countWaysIn(scope, transaction);
        const issuer = await removeIdentity(scope, transaction, params.id);
        if (issuer === null) {
          throw new Problem('not_found', `there is no identity ${params.id}`);
        }
        if (ways <= 1)
          throw new Problem('last_way_in', 'without this identity nobody could sign in: add another way first');
        const event = { action: 'identity.unlinked', subjectType: 'identity', subjectId: params.id };
        await recordAudit(transaction, caller, request, event);
        const change = { kind: 'identity_unlinked', name: keeperOf(issuer) } as const;
        await tellOwner(context, scope, transaction, (locale) =>
          accountChangedLetter(locale, change, request.remoteAddress),
        );
      });
    }),
  ];
}
