import { randomUUID } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { outboxSubject } from '../../../platform/bus/subjects.ts';
import { randomKeyHash } from '../../../platform/crypto/random-key.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { clientNetwork } from '../../../platform/http/client-address.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import type { UnlockLinks } from '../serving/page-unlocking.ts';
import { linkToken, noteAskedLink } from './link-mails.consumer.ts';
import { takeLink } from './links.queries.ts';

/** Links to private pages, which are mailed behind the outbox. */
export function unlockLinks(context: Context): UnlockLinks {
  return {
    ask: async ({ access, mail, locale, address }) => {
      const { api } = context.database;
      const rate = context.limits.rate('status_page_link');
      const { used, quota, resetSeconds } = await countOnce(api, `status-page-links:${clientNetwork(address)}`, rate);
      if (used > quota) return resetSeconds * 1_000;
      // Where no domain is named nobody can have one, and the form says so by not asking.
      if (access.mailDomains.length === 0) return 0;
      await inScope(api, { userId: null, workspaceIds: [] }, (tx) =>
        noteAskedLink(tx, context.sealer, { pageId: access.pageId, mail, locale }, randomUUID()),
      );
      context.bus.hint(outboxSubject, {});
      return 0;
    },
    take: async ({ found: { pageId, workspaceId } }, token) => {
      if (!linkToken.isForm(token)) return false;
      const scope = { userId: null, workspaceIds: [workspaceId] };
      return inScope(context.database.api, scope, (tx) => takeLink(scope, tx, pageId, randomKeyHash(token)));
    },
  };
}
