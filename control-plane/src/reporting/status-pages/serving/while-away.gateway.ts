import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { pageAccessLimits } from '@parallax/api-contract';
import type { Logger } from '@parallax/telemetry';
import { hostOf } from '../../../platform/http/host-guard.ts';
import { isMapped, mapRequest } from '../../../platform/http/mapped-hosts.ts';
import type { MappedHosts } from '../../../platform/http/mapped-hosts.ts';
import { addressReader, clientOf } from '../../../platform/http/prepared/before-routes.ts';
import type { PreparedClient } from '../../../platform/http/prepared/before-routes.ts';
import { answerFor } from '../../../platform/http/prepared/prepared-answer.ts';
import type { PreparedAnswer, PreparedHeaders, SentAnswer } from '../../../platform/http/prepared/prepared-answer.ts';
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
  /** Networks (CIDRs) whose forwarded headers count. */
  readonly trustedProxies: readonly string[];
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
  const addressOf = addressReader(options.trustedProxies);
  const server = createServer((request, response) => {
    answer(options, request, response, clientOf(request, addressOf)).catch(() => response.destroy());
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

async function answer(
  options: Served,
  request: IncomingMessage,
  response: ServerResponse,
  client: PreparedClient,
): Promise<void> {
  const host = hostOf(request.headers.host ?? '');
  const prefix = host === undefined ? undefined : options.hosts.prefixOf(host);
  if (prefix !== undefined) mapRequest(request, prefix);
  const { method, url = '' } = request;
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  const asked = {
    path,
    query: mark === -1 ? '' : url.slice(mark + 1),
    acceptLanguage: request.headers['accept-language'],
    isMapped: isMapped(request),
    client,
  };
  const isRead = (method === 'GET' || method === 'HEAD') && options.pages.covers(path);
  const isForm = method === 'POST' && options.pages.unlocks(path);
  const sent = isRead
    ? await answered(request, () => options.pages.fetch(asked))
    : isForm
      ? await answered(request, async () => options.pages.unlock(asked, await formBody(request)))
      : away();
  const common = securityHeaders(path, options.publicUrl.startsWith('https:') && !isMapped(request));
  const present: PreparedHeaders = { ...common, ...sent.headers };
  for (const [name, value] of Object.entries(present)) if (value !== null) response.setHeader(name, value);
  // The next request is for the server that comes after this one.
  response.setHeader('connection', 'close');
  response.writeHead(sent.status);
  response.end(method === 'HEAD' ? undefined : sent.body);
}

/** What a request is sent, or that it must wait for the database. */
async function answered(request: IncomingMessage, made: () => Promise<PreparedAnswer>): Promise<SentAnswer> {
  const { 'accept-encoding': encodings, 'if-none-match': ifNoneMatch } = request.headers;
  const acceptEncoding = Array.isArray(encodings) ? encodings.join(',') : encodings;
  try {
    return answerFor(await made(), { ifNoneMatch, acceptEncoding });
  } catch {
    return away();
  }
}

/** The form that a request sends. @throws when it is longer than a form is */
async function formBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    if (!Buffer.isBuffer(part)) throw new Error('a body came as text');
    bytes += part.length;
    if (bytes > pageAccessLimits.formBytes) throw new Error('the form is too long');
    parts.push(part);
  }
  return Buffer.concat(parts);
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
