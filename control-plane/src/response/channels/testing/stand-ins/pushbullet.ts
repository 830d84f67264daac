// Written from https://docs.pushbullet.com/ (Pushbullet API: Authentication, Errors, Ratelimiting, Create Push). Checked against its beginning and its examples on 2026-11-23: the
// form of an error, X-Ratelimit-Reset in seconds since the epoch, the token in `Access-Token`; what a device that is not known is answered against issue 39 of
// eddelbuettel/rpushbullet, the end of a month's pushes against issue 101 of richard-better/pushbullet.py. Other sentences are from memory.
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
    unknown_target: refuse(400, "The param 'device_iden' has an invalid value.", {
      code: 'invalid_param',
      param: 'device_iden',
    }),
    rate_limited: () => ({
      ...refuse(429, "You've been rate limited."),
      headers: {
        'x-ratelimit-limit': '32768',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 8),
      },
    }),
    refused_message: refuse(400, "The param 'url' has an invalid value.", { code: 'invalid_param', param: 'url' }),
    service_unavailable: { status: 502, text: '' },
  },
  saysHowLong: true,
};
