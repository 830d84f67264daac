import { inputErrors, problems } from '@parallax/api-contract';
import fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Route } from './handler.ts';
import { openApiDocument } from './openapi.ts';

/** Serves `/openapi.json`, its readable form at `/docs`, and the list of error codes at `/docs/problems`. */
export async function registerDocuments(app: FastifyInstance, routes: readonly Route[]): Promise<void> {
  let text: string | undefined;
  // Made at the first request: it takes half a second, which most processes would spend for nobody.
  const documentText = (): string => (text ??= JSON.stringify(openApiDocument(routes.map((route) => route.contract))));
  // Loaded at the first request, too: its files, routes and templates are a tenth of a start.
  let pages: Promise<FastifyInstance> | undefined;
  const servePages = async (request: FastifyRequest, reply: FastifyReply) => {
    pages ??= documentPages(documentText);
    const { statusCode, headers, rawPayload } = await (await pages).inject({ method: 'GET', url: request.url });
    const { connection: _connection, 'content-length': _length, date: _date, ...others } = headers;
    return reply.code(statusCode).headers(others).send(rawPayload);
  };
  app.get('/docs', servePages);
  app.get('/docs/*', servePages);
  app.get('/openapi.json', async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(documentText()),
  );
  // Whoever opens the address in a browser finds the description of the API.
  app.get('/', async (_request, reply) => reply.redirect('/docs'));
  app.get('/docs/problems', async (_request, reply) => reply.type('text/html; charset=utf-8').send(problemsPage()));
}

/** The readable form of the document, as a server of its own that nothing reaches but what is handed to it. */
async function documentPages(documentText: () => string): Promise<FastifyInstance> {
  const { default: swaggerUi } = await import('@fastify/swagger-ui');
  const pages = fastify();
  // The page asks for the document by the name of the plugin that would otherwise make one out of the framework's routes.
  const provideDocument = async (server: FastifyInstance) => {
    server.decorate('swagger', () => JSON.parse(documentText()) as Record<string, unknown>);
  };
  await pages.register(fastifyPlugin(provideDocument, { name: '@fastify/swagger' }));
  await pages.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { deepLinking: true, tryItOutEnabled: true },
    logo: { type: 'image/svg+xml', content: logo, href: '/docs' },
  });
  await pages.ready();
  return pages;
}

/** Paths beside the routes of capabilities, so that another method is refused with the right list. */
export const documentPaths = [
  { method: 'GET', path: '/' },
  { method: 'GET', path: '/openapi.json' },
  { method: 'GET', path: '/docs' },
  { method: 'GET', path: '/docs/problems' },
] as const;

/**
 * False for a path below the documents that can name none of their files. What serves them answers such names with faults of its own: `..` and `\\`
 * that lead outside, NUL, and names that are longer than those of files may be.
 */
export function mayBeDocument(path: string): boolean {
  const name = /^\/docs\/static\/([^]*)$/.exec(decodeURIComponent(path))?.[1];
  return name === undefined || /^[A-Za-z0-9][\w.-]{0,99}$/.test(name);
}

/** The name, as a picture of two sight lines to one point. */
const logo = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="150" height="36" viewBox="0 0 150 36" role="img" aria-label="Parallax">' +
    '<path d="M4 31 18 6l14 25" fill="none" stroke="#7dd3fc" stroke-width="3" stroke-linejoin="round"/>' +
    '<circle cx="18" cy="7" r="4" fill="#fff"/>' +
    '<text x="42" y="26" font-family="sans-serif" font-size="22" fill="#fff">Parallax</text></svg>',
);

function problemsPage(): string {
  const rows = Object.entries(problems).map(
    ([code, { status, title }]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${title}</td></tr>`,
  );
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"><title>Parallax: errors of the API</title></head><body>',
    '<h1>Errors of the API</h1>',
    '<p>Every error is <code>application/problem+json</code> (RFC 9457); <code>code</code> is stable.</p>',
    '<table><thead><tr><th>code</th><th>status</th><th>meaning</th></tr></thead><tbody>',
    ...rows,
    '</tbody></table>',
    '<h2>Errors of the input</h2>',
    '<p>A 422 lists in <code>errors</code> each thing that is wrong: <code>in</code> says which part of the request, <code>path</code> is a JSON ' +
      'pointer (RFC 6901) in a body and <code>/name</code> of a parameter or header, <code>code</code> is one of these.</p>',
    '<table><thead><tr><th>code</th><th>meaning</th></tr></thead><tbody>',
    ...Object.entries(inputErrors).map(
      ([code, meaning]) => `<tr id="input-${code}"><td><code>${code}</code></td><td>${meaning}</td></tr>`,
    ),
    '</tbody></table></body></html>',
  ].join('\n');
}
