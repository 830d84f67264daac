import { Problem } from '@parallax/api-contract';
import { clientNetwork } from '../../../platform/http/client-address.ts';
import { handle, PreparedResult } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import type { TokenBuckets } from '../../../platform/http/prepared/token-buckets.ts';
import type { DocumentBase } from './document-table.ts';
import type { PageServer } from './page-server.ts';
import { askedOf } from './unlock.routes.ts';

/** A server, and how often a client may ask it for what it must read first: a slug that is made up costs a statement. */
export type RoutedServing = { readonly server: PageServer; readonly slowly: TokenBuckets };

/** Routes of documents that belong to the API, for when they are not in memory. */
export function documentRoutes(serving: RoutedServing, bases: readonly DocumentBase[]): readonly Route[] {
  return bases.flatMap(({ documents }) =>
    documents.flatMap(({ contract }) => (contract === undefined ? [] : [documentRoute(serving, contract)])),
  );
}

function documentRoute({ server, slowly }: RoutedServing, contract: Route['contract']): Route {
  return handle(contract, async ({ request }) => {
    const asked = askedOf(request);
    const waitMs = server.isKnown(asked) ? 0 : slowly.take(clientNetwork(request.remoteAddress));
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1_000);
      request.reply.header('retry-after', String(seconds));
      throw new Problem(
        'rate_limited',
        `too many pages were asked for that are not at hand; try again in ${seconds} s`,
      );
    }
    const answer = await server.fetch(asked);
    if (answer.status === 404) throw new Problem('not_found', 'there is no published status page of this name');
    if (answer.status === 401)
      throw new Problem('password_required', 'the page is private: send its password as X-Status-Password');
    if (answer.status === 429 || answer.status === 503) {
      const retryAfterSeconds = Number(answer.headers['retry-after']);
      const code = answer.status === 429 ? 'rate_limited' : 'busy';
      throw new Problem(code, 'too many wrong passwords came for this page; try again later', { retryAfterSeconds });
    }
    return new PreparedResult(answer);
  });
}
