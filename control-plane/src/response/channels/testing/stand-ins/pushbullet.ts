// Written from https://docs.pushbullet.com/ (Pushbullet API: Authentication, Errors, Ratelimiting, Create Push). Checked against it on 2026-11-23: the form of an error is {type,
// message, cat}, X-Ratelimit-Reset is in seconds since the epoch, and the token stands in `Access-Token`. `param` of an error and what an unknown device is answered are
// from memory, as only the beginning of that page could be read.
import type { StandIn } from '../stand-in.ts';
import { hasOnly, isWebAddress, jsonBody } from './parts.ts';

const token = 'o.pbCredential92abcdefghijklmnopqr';
const names = [
  'type',
  'title',
  'body',
  'url',
  'device_iden',
  'email',
  'channel_tag',
  'client_iden',
  'guid',
  'source_device_iden',
  'file_name',
  'file_type',
  'file_url',
];
const refuse = (status: number, message: string, more: object = {}) => ({
  status,
  json: { error: { ...more, type: 'invalid_request', message, cat: '(=^‥^=)' } },
});

export const pushbullet: StandIn = {
  channel: 'pushbullet',
  documents: ['https://docs.pushbullet.com/'],
  settings: () => ({ access_token: token }),
  target: 'device:ujpah72o0sjAoRtnM0jc',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === '/v2/pushes', 'POST /v2/pushes');
    must(
      (request.headers['access-token'] ?? request.headers['authorization']?.replace(/^Bearer /, '')) === token,
      'the access token',
    );
    const body = jsonBody(request, must);
    must(hasOnly(body, names), 'known fields');
    must(body['type'] === 'note' || body['type'] === 'link', 'a note or a link');
    must(body['type'] !== 'link' || isWebAddress(body['url']), 'a link with its address');
    must(typeof body['title'] === 'string' || typeof body['body'] === 'string', 'a title or a body');
    must(body['device_iden'] === 'ujpah72o0sjAoRtnM0jc', 'the device');
    return { status: 200, json: { iden: 'ujpah72o0sjAoRtnM0jc-1', active: true, type: body['type'], created: 1.41e9 } };
  },
  troubles: {
    refused_credentials: refuse(401, 'Access token is missing or invalid.'),
    unknown_target: refuse(404, 'The resource could not be found.'),
    rate_limited: () => ({
      ...refuse(429, "You've been rate limited."),
      headers: {
        'x-ratelimit-limit': '32768',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 8),
      },
    }),
    refused_message: refuse(400, 'The param has an invalid value.', { param: 'url' }),
    service_unavailable: { status: 502, text: '' },
  },
  saysHowLong: true,
};
