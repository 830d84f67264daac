import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@parallax/telemetry';
import { hostOf } from '../../../platform/http/host-guard.ts';
import { isMapped, mapRequest } from '../../../platform/http/mapped-hosts.ts';
import type { MappedHosts } from '../../../platform/http/mapped-hosts.ts';
import { answerFor } from '../../../platform/http/prepared/prepared-answer.ts';
import type { PreparedHeaders, SentAnswer } from '../../../platform/http/prepared/prepared-answer.ts';
import { securityHeaders } from '../../../platform/http/security-headers.ts';
import type { PageServer } from './page-server.ts';

export type WhileAwayOptions<Reached> = Served & {
  readonly host: string;
  readonly port: number;
  /** Tries the database once. */
  readonly reach: () => Promise<Reached>;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  readonly log: Pick<Logger, 'info' | 'warn'>;
};

type Served = {
  readonly publicUrl: string;
  /** Serves pages as they were kept. */
  readonly pages: PageServer;
  /** Hosts that pages are served under. */
  readonly hosts: MappedHosts;
};

const retryMs = 2_000;

/**
 * Waits for the database, and meanwhile shows status pages as they were kept: a page is read when everything else is broken. All else is answered 503.
 * @param failure of the first attempt
 * @returns what was reached
 * @throws when the signal ends it
 */
export async function servePagesWhileAway<Reached>(
  options: WhileAwayOptions<Reached>,
  failure: unknown,
): Promise<Reached> {
  const { host, port, signal, log, reach } = options;
  const server = createServer((request, response) => {
    answer(options, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  log.warn(
    { err: failure },
    'the database cannot be reached: status pages are shown as they were kept, all else waits',
  );
  try {
    for (;;) {
      await delay(retryMs, undefined, { signal });
      const tried = await reach().then(
        (reached) => ({ reached }),
        () => undefined,
      );
      if (tried === undefined) continue;
      log.info({}, 'the database is there again');
      return tried.reached;
    }
  } finally {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }
}

async function answer(options: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const host = hostOf(request.headers.host ?? '');
  const prefix = host === undefined ? undefined : options.hosts.prefixOf(host);
  if (prefix !== undefined) mapRequest(request, prefix);
  const { method, url = '' } = request;
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  const isRead = (method === 'GET' || method === 'HEAD') && options.pages.covers(path);
  const sent = isRead ? await fetchPage(options.pages, request, path, mark === -1 ? '' : url.slice(mark + 1)) : away();
  const common = securityHeaders(path, options.publicUrl.startsWith('https:') && !isMapped(request));
  const present: PreparedHeaders = { ...common, ...sent.headers };
  for (const [name, value] of Object.entries(present)) if (value !== null) response.setHeader(name, value);
  // The next request is for the server that comes after this one.
  response.setHeader('connection', 'close');
  response.writeHead(sent.status);
  response.end(method === 'HEAD' ? undefined : sent.body);
}

async function fetchPage(
  pages: PageServer,
  request: IncomingMessage,
  path: string,
  query: string,
): Promise<SentAnswer> {
  const {
    'accept-language': acceptLanguage,
    'accept-encoding': encodings,
    'if-none-match': ifNoneMatch,
  } = request.headers;
  const acceptEncoding = Array.isArray(encodings) ? encodings.join(',') : encodings;
  try {
    return answerFor(await pages.fetch({ path, query, acceptLanguage, isMapped: isMapped(request) }), {
      ifNoneMatch,
      acceptEncoding,
    });
  } catch {
    return away();
  }
}

function away(): SentAnswer {
  const problem = {
    type: 'about:blank',
    title: 'Service Unavailable',
    status: 503,
    code: 'unavailable',
    detail: 'the database cannot be reached; try again',
  };
  const body = Buffer.from(JSON.stringify(problem));
  const type = { 'content-type': 'application/problem+json', 'cache-control': 'no-store', 'retry-after': '5' };
  return { status: 503, headers: { ...type, 'content-length': String(body.length) }, body };
}
