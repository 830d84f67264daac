// Written from docs/API_V2.md of Finb/bark-server (POST /push). Checked on 2026-11-23 against its source, route_push.go (400 for a key that is empty or not known, 500 for what
// Apple refuses, answers of {code, message, timestamp}) and apns/apns.go (what becomes of the parameters, at most 4,096 bytes, "APNS push failed: " and Apple's reason). What parameters
// do (levels, `id`) is in docs/en-us/tutorial.md of Finb/Bark. That Go writes `<`, `>` and `&` of JSON in six bytes is from memory of its encoding/json.
import type { StandIn } from '../stand-in.ts';
import { type Body, isOneOf, isWebAddress, jsonBody, textOf } from './parts.ts';

const key = 'bkCredential93ynJ5Ft';
const levels = ['active', 'timeSensitive', 'passive', 'critical'];

export const bark: StandIn = {
  channel: 'bark',
  documents: ['https://github.com/Finb/bark-server/blob/master/docs/API_V2.md'],
  settings: (baseUrl) => ({ server_url: baseUrl }),
  target: key,
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === '/push', 'POST /push');
    const body = jsonBody(request, must);
    must(body['device_key'] === key, 'the key of the device');
    must(typeof body['body'] === 'string' && textOf(body['title']) + body['body'] !== '', 'a body or a title');
    must(body['level'] === undefined || isOneOf(body['level'], levels), 'a level');
    must(body['url'] === undefined || isWebAddress(body['url']), 'an address to open');
    must(body['isArchive'] === undefined || body['isArchive'] === '1' || body['isArchive'] === 1, 'isArchive is 1');
    must(notificationBytes(body) <= 4096, 'a notification of at most 4,096 bytes');
    return { status: 200, json: { code: 200, message: 'success', timestamp: 1_772_330_400 } };
  },
  troubles: {
    unknown_target: {
      status: 400,
      json: {
        code: 400,
        message: `failed to get device token: failed to get [${key}] device token from database`,
        timestamp: 1_772_330_400,
      },
    },
    refused_message: {
      status: 400,
      json: { code: 400, message: 'request bind failed: invalid body', timestamp: 1_772_330_400 },
    },
    service_unavailable: {
      status: 500,
      json: { code: 500, message: 'push failed: APNS push failed: ServiceUnavailable', timestamp: 1_772_330_400 },
    },
  },
};

/** What the server sends to Apple: the parameters that it does not know stand beside `aps` as they are. */
function notificationBytes({ device_key: _key, title = '', body, group, ...more }: Body): number {
  const aps = {
    alert: { title, body },
    category: 'myNotificationCategory',
    'mutable-content': 1,
    sound: '1107',
    ...(group === undefined ? {} : { 'thread-id': group }),
  };
  const json = JSON.stringify({ aps, ...more, ...(group === undefined ? {} : { group }) });
  return Buffer.byteLength(json.replaceAll(/[<>&]/g, '\\u0000'));
}
