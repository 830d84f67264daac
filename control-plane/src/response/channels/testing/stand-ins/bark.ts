// Written from docs/API_V2.md of Finb/bark-server (POST /push), read 2026-11-23; what it answers is `{code, message, timestamp}` (README), from memory.
import type { StandIn } from '../stand-in.ts';
import { isWebAddress, jsonBody } from './parts.ts';

const key = 'bkCredential93ynJ5Ft';
const levels = ['active', 'timeSensitive', 'passive', 'critical', undefined];

export const bark: StandIn = {
  channel: 'bark',
  documents: ['https://github.com/Finb/bark-server/blob/master/docs/API_V2.md'],
  settings: (baseUrl) => ({ server_url: baseUrl }),
  target: key,
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === '/push', 'POST /push');
    const body = jsonBody(request, must);
    must(body['device_key'] === key, 'the key of the device');
    must(
      typeof body['body'] === 'string' && `${String(body['title'] ?? '')}${body['body']}` !== '',
      'a body or a title',
    );
    must(levels.includes(body['level'] as string | undefined), 'a level');
    must(body['url'] === undefined || isWebAddress(body['url']), 'an address to open');
    must(body['isArchive'] === undefined || body['isArchive'] === '1' || body['isArchive'] === 1, 'isArchive is 1');
    // Apple takes 4 kB.
    must(request.bytes.length <= 4096, 'at most 4 kB');
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
      json: { code: 500, message: 'push failed: 503 ServiceUnavailable', timestamp: 1_772_330_400 },
    },
  },
};
