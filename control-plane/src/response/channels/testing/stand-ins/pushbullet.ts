// Written from https://docs.pushbullet.com/ (Authentication, Errors, Ratelimiting, Create Push), read 2026-11-23 as far as search showed it.
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
const refuse = (status: number, code: string, message: string) => ({
  status,
  json: { error: { code, type: 'invalid_request', message, cat: '(=^‥^=)' } },
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
    refused_credentials: refuse(401, 'invalid_access_token', 'Access token is missing or invalid.'),
    unknown_target: refuse(404, 'not_found', 'The device could not be found.'),
    rate_limited: {
      status: 429,
      headers: { 'x-ratelimit-limit': '32768', 'x-ratelimit-remaining': '0' },
      json: {
        error: { code: 'pushbullet_pro_required', type: 'invalid_request', message: "You've been rate limited." },
      },
    },
    refused_message: refuse(400, 'invalid_param', 'The param has an invalid value.'),
    service_unavailable: { status: 502, text: '' },
  },
};
