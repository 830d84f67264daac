// Written from https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md (Standard Webhooks, the specification). Checked against it on 2026-11-23:
// headers, signed content, secrets of 24 to 64 bytes, what statuses mean, `Retry-After`.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { StandIn } from '../stand-in.ts';

const secret = `whsec_${Buffer.from('webhook stand-in secret 01234567').toString('base64')}`;

/** An address of a customer's own that takes what Standard Webhooks describes. */
export const webhook: StandIn = {
  channel: 'webhook',
  documents: ['https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md'],
  settings: (baseUrl) => ({
    destinations: [
      {
        key: 'ops',
        name: 'Operations',
        url: `${baseUrl}/hooks/wh-path-credential-71`,
        headers: { authorization: 'Bearer wh-header-credential-72' },
        secret,
      },
    ],
  }),
  target: 'ops',
  handle: (request, must) => {
    const {
      'webhook-id': id = '',
      'webhook-timestamp': at = '',
      'webhook-signature': signatures = '',
    } = request.headers;
    must(request.method === 'POST', 'POST');
    must(request.path === '/hooks/wh-path-credential-71', 'the path of the address');
    must(request.headers['authorization'] === 'Bearer wh-header-credential-72', 'the header that was set');
    must(request.headers['content-type'] === 'application/json', 'JSON');
    must(/^[^.\s]+$/.test(id), 'an id without dots that is the same at each attempt');
    must(
      /^[0-9]{10}$/.test(at) && Math.abs(Number(at) * 1_000 - Date.now()) < 300_000,
      'the time of the attempt, in seconds',
    );
    const key = Buffer.from(secret.slice(6), 'base64');
    const expected = Buffer.from(createHmac('sha256', key).update(`${id}.${at}.${request.text}`).digest('base64'));
    const isSigned = signatures.split(' ').some((one) => {
      const given = Buffer.from(one.replace(/^v1,/, ''));
      return one.startsWith('v1,') && given.length === expected.length && timingSafeEqual(given, expected);
    });
    must(isSigned, 'a signature v1 over id, time and body');
    const body = request.json as { type?: unknown; timestamp?: unknown; data?: unknown } | undefined;
    must(/^[a-zA-Z0-9_]+(\.[a-zA-Z0-9_]+)*$/.test(String(body?.type)), 'a type of words with dots between them');
    must(!Number.isNaN(Date.parse(String(body?.timestamp))), 'a timestamp in ISO 8601');
    must(typeof body?.data === 'object', 'data');
    return { status: 200, text: 'ok' };
  },
  troubles: {
    // "410 Gone": the endpoint does not want messages any more.
    unknown_target: { status: 410 },
    rate_limited: { status: 429, headers: { 'retry-after': '7' } },
    refused_message: { status: 400, text: 'no' },
    service_unavailable: { status: 502, text: 'bad gateway' },
  },
  saysHowLong: true,
};
