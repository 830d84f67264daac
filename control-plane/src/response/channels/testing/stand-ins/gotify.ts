// Written from https://gotify.net/docs/pushmsg and https://gotify.net/docs/msgextras. Checked on 2026-11-23 against both, docs/pushmsg.md and docs/msgextras.md of
// gotify/website, and against clients and servers of the same protocol: `X-Gotify-Key`, and errors of {error, errorCode, errorDescription} (model/error.go of gotify/server).
import type { StandIn } from '../stand-in.ts';
import { hasOnly, jsonBody, objectOf } from './parts.ts';

const token = 'AgtCredential90x';
const refuse = (errorCode: number, error: string, errorDescription: string) => ({
  status: errorCode,
  json: { error, errorCode, errorDescription },
});

export const gotify: StandIn = {
  channel: 'gotify',
  documents: ['https://gotify.net/docs/pushmsg', 'https://gotify.net/api-docs'],
  settings: (baseUrl) => ({ server_url: baseUrl, destinations: [{ key: 'ops', name: 'Operations', token }] }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === '/message', 'POST /message');
    const given =
      request.headers['x-gotify-key'] ??
      request.headers['authorization']?.replace(/^Bearer /, '') ??
      request.query.get('token');
    must(given === token, 'the token of the application');
    must(request.query.get('token') === null, 'no token in the address, which logs keep');
    const body = jsonBody(request, must);
    must(hasOnly(body, ['message', 'title', 'priority', 'extras', 'id', 'appid', 'date']), 'known fields');
    must(typeof body['message'] === 'string' && body['message'] !== '', 'a message');
    must(body['priority'] === undefined || Number.isInteger(body['priority']), 'a priority as a whole number');
    const extras = Object.keys(objectOf(body['extras']));
    must(
      extras.every((name) => /^[^:]+::[^:]+$/.test(name)),
      'extras of the form namespace::name',
    );
    return { status: 200, json: { id: 25, appid: 5, message: body['message'], date: '2026-03-01T02:00:05Z' } };
  },
  troubles: {
    refused_credentials: refuse(
      401,
      'Unauthorized',
      'you need to provide a valid access token or user credentials to access this api',
    ),
    refused_message: refuse(400, 'Bad Request', "Field 'message' is required"),
    service_unavailable: { status: 502, text: 'Bad Gateway' },
  },
};
