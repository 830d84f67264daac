import { Problem, route } from '@parallax/api-contract';
import type { RouteContract } from '@parallax/api-contract';
import { z } from 'zod';
import { handle, PreparedResult } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { clientNetwork } from '../../../platform/http/client-address.ts';
import type { TokenBuckets } from '../../../platform/http/prepared/token-buckets.ts';
import type { PageDocument } from '../view/page-document.ts';
import type { DocumentBase } from './document-table.ts';
import type { PageServer } from './page-server.ts';

const query = z.object({ lang: z.string().max(20).optional().describe('The language: `en` or `ru`.') });

/** A server, and how often a client may ask it for what it must read first: a slug that is made up costs a statement. */
export type RoutedServing = { readonly server: PageServer; readonly slowly: TokenBuckets };

/** Routes of documents that were not in memory: the first request for each, and what is wrong in some way. */
export function documentRoutes(serving: RoutedServing, bases: readonly DocumentBase[]): readonly Route[] {
  return bases.flatMap(({ prefix, documents }) =>
    documents.map((document) => documentRoute(serving, prefix, document)),
  );
}

function documentRoute(serving: RoutedServing, prefix: string, document: PageDocument): Route {
  const { server, slowly } = serving;
  return handle(document.contract ?? contractOf(prefix, document), async ({ request }) => {
    const { url } = request.reply.request;
    const mark = url.indexOf('?');
    const asked = {
      path: mark === -1 ? url : url.slice(0, mark),
      query: mark === -1 ? '' : url.slice(mark + 1),
      acceptLanguage: request.header('accept-language'),
    };
    const waitMs = slowly.take(clientNetwork(request.remoteAddress));
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1_000);
      request.reply.header('retry-after', String(seconds));
      throw new Problem(
        'rate_limited',
        `too many pages that are not at hand were asked for; try again in ${seconds} s`,
      );
    }
    return new PreparedResult(await server.fetch(asked));
  });
}

function contractOf(prefix: string, { path, contentType }: PageDocument): RouteContract {
  const hasId = path.includes(':id');
  return route({
    method: 'GET',
    path: `${prefix}:slug${path}`,
    credentials: 'none',
    tag: 'Public status pages',
    summary: path === '' ? 'A status page' : `A status page: ${path.slice(1).replace(':id', '{id}')}`,
    description: 'A change is seen within two seconds. A former slug leads to the present one (301).',
    params: z.object({ slug: z.string().max(100), ...(hasId ? { id: z.string().max(100) } : {}) }),
    query,
    success: { status: 200, answer: z.string(), contentType, headers: ['ETag'] },
    errors: [404],
  });
}
