import { route } from '@parallax/api-contract';
import { z } from 'zod';
import { handle, PreparedResult } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import type { PageDocument } from '../view/page-document.ts';
import type { DocumentBase } from './document-table.ts';
import type { PageServer } from './page-server.ts';

const query = z.object({ lang: z.string().max(20).optional().describe('The language: `en` or `ru`.') });

/** Routes of documents that were not in memory: the first request for each, and what is wrong in some way. */
export function documentRoutes(server: PageServer, bases: readonly DocumentBase[]): readonly Route[] {
  return bases.flatMap(({ prefix, documents }) => documents.map((document) => documentRoute(server, prefix, document)));
}

function documentRoute(server: PageServer, prefix: string, document: PageDocument): Route {
  const contract = route({
    method: 'GET',
    path: `${prefix}:slug${document.path}`,
    credentials: 'none',
    tag: 'Public status pages',
    summary: document.summary ?? `Status page: ${document.path === '' ? 'the page' : document.path.slice(1)}`,
    description: 'From memory: a change is seen within two seconds. A former slug leads to the present one (301).',
    params: z.object({
      slug: z.string().max(100),
      ...(document.path.includes(':id') ? { id: z.string().max(100) } : {}),
    }),
    query,
    success: { status: 200, answer: z.string(), contentType: document.contentType, headers: ['ETag'] },
    errors: [404],
  });
  return handle(contract, async ({ request }) => {
    const { url } = request.reply.request;
    const mark = url.indexOf('?');
    return new PreparedResult(
      await server.fetch({
        path: mark === -1 ? url : url.slice(0, mark),
        query: mark === -1 ? '' : url.slice(mark + 1),
        acceptLanguage: request.header('accept-language'),
      }),
    );
  });
}
