import { unlockStatusPageByLinkRoute, unlockStatusPageRoute } from '@parallax/api-contract';
import { handle, PreparedResult } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { isMapped } from '../../../platform/http/mapped-hosts.ts';
import type { PreparedRequest } from '../../../platform/http/prepared/before-routes.ts';
import type { PageServer } from './page-server.ts';

/** The forms that let readers into private pages. The pages that hold them are answered before any route. */
export function unlockRoutes(server: PageServer): readonly Route[] {
  return [
    handle(
      unlockStatusPageRoute,
      async ({ bytes, request }) => new PreparedResult(await server.unlock(askedOf(request), bytes?.bytes)),
    ),
    handle(
      unlockStatusPageByLinkRoute,
      async ({ request }) => new PreparedResult(await server.unlock(askedOf(request), undefined)),
    ),
  ];
}

/** A request as the server of pages reads it. */
export function askedOf(request: RequestFacts): PreparedRequest {
  const { url } = request.reply.request;
  const mark = url.indexOf('?');
  return {
    path: mark === -1 ? url : url.slice(0, mark),
    query: mark === -1 ? '' : url.slice(mark + 1),
    acceptLanguage: request.header('accept-language'),
    isMapped: isMapped(request.reply.request.raw),
    client: { header: request.header, address: () => request.remoteAddress },
  };
}
