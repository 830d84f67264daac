// Written from memory, checked on 2026-11-23 against the OpenAPI document of https://developer.vonage.com/en/api/messages (Messages API 1.20.0: path, basic
// authentication, fields, 3,200 characters, 202, statuses of errors, Retry-After) and https://developer.vonage.com/api-errors (their codes).
import { basicOf, isOptionalText, isText, jsonBody } from './parts.ts';
import type { StandIn, StandInAnswer } from '../stand-in.ts';

const key = 'vo97abcd';
const secret = 'voCredential97Abcd';
const sender = 'Parallax';
const recipient = '+447700900097';

/** Vonage's Messages API. Its problems are named by the end of their type: a word that all interfaces know, or a number of this one. */
export const vonage: StandIn = {
  channel: 'vonage',
  documents: ['https://developer.vonage.com/en/api/messages', 'https://developer.vonage.com/api-errors'],
  settings: () => ({ api_key: key, api_secret: secret, from: sender }),
  target: recipient,
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === '/v1/messages', 'POST /v1/messages');
    must(basicOf(request) === `${key}:${secret}`, 'key and secret by Basic');
    const body = jsonBody(request, must);
    must(body['message_type'] === 'text' && body['channel'] === 'sms', 'a text by SMS');
    must(body['to'] === recipient.slice(1), 'the number without "+"');
    must(body['from'] === sender, 'the sender');
    must(isText(body['text'], 3200), 'a text of at most 3,200 characters');
    must(isOptionalText(body['client_ref'], 100), 'client_ref of at most 100 characters');
    return { status: 202, json: { message_uuid: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab' } };
  },
  troubles: {
    refused_credentials: problem(401, '#unauthorized', 'You did not provide correct credentials.'),
    unknown_target: problem(422, '/messages#1430', 'Invalid recipient'),
    rate_limited: { ...problem(429, '#throttled', 'Rate Limit Hit'), headers: { 'retry-after': '7' } },
    refused_message: problem(422, '/messages#1020', 'Invalid params'),
    service_unavailable: problem(500, '', 'Internal error'),
  },
  saysHowLong: true,
};

/** RFC 7807. */
function problem(status: number, code: string, title: string): StandInAnswer {
  const type = `https://developer.vonage.com/api-errors${code}`;
  return { status, json: { type, title, detail: title, instance: 'bf0ca0bf927b3b52e3cb03217e1a1ddf' } };
}
