// Written from https://developer.vonage.com/en/api/sms, https://developer.vonage.com/messaging/sms/guides/troubleshooting-sms and https://developer.vonage.com/api-errors/sms
// for POST /sms/json, and https://developer.vonage.com/en/api/messages for POST /v1/messages; read 2026-11-23 as far as search showed them.
import type { Must, SeenRequest, StandIn, StandInAnswer } from '../stand-in.ts';
import { basicOf, isText, jsonBody } from './parts.ts';

const key = 'vo97abcd';
const secret = 'voCredential97Abcd';
const sender = 'Parallax';
const recipient = '+447700900097';

export const vonage: StandIn = {
  channel: 'vonage',
  documents: [
    'https://developer.vonage.com/en/api/sms',
    'https://developer.vonage.com/messaging/sms/guides/troubleshooting-sms',
  ],
  settings: () => ({ api_key: key, api_secret: secret, from: sender }),
  target: recipient,
  handle: (request, must) => (request.path === '/v1/messages' ? takeMessage(request, must) : takeSms(request, must)),
  troubles: {
    refused_credentials: either(refuseSms('4', 'Bad Credentials'), refuseMessage(401, 'Unauthorized')),
    unknown_target: either(refuseSms('7', 'Number barred'), refuseMessage(422, 'Invalid params', 'to')),
    rate_limited: either(
      refuseSms('1', 'Throughput Rate Exceeded - please wait [ 250 ] and retry'),
      refuseMessage(429, 'Rate Limit Hit'),
    ),
    refused_message: either(
      refuseSms('3', 'Invalid value for parameter: text'),
      refuseMessage(422, 'Invalid params', 'text'),
    ),
    service_unavailable: either(refuseSms('5', 'Internal Error'), refuseMessage(500, 'Internal Error')),
  },
};

function takeSms(request: SeenRequest, must: Must): StandInAnswer {
  must(request.method === 'POST' && request.path === '/sms/json', 'POST /sms/json or /v1/messages');
  const isJson = /^application\/json\b/.test(request.headers['content-type'] ?? '');
  const entries = isJson ? Object.entries((request.json ?? {}) as object) : [...request.form];
  const given = Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
  const isKnown =
    (given['api_key'] === key && given['api_secret'] === secret) || basicOf(request) === `${key}:${secret}`;
  must(isKnown, 'key and secret');
  must(given['to'] === recipient.slice(1), 'the number without "+"');
  must(given['from'] === sender, 'the sender');
  const text = given['text'] ?? '';
  must(text !== '', 'a text');
  must(
    !/[^\x00-\x7f£¥èéùìòÇØøÅåÄÖÑÜäöñüàÆæßÉ¡¿§€ΔΦΓΛΩΠΨΣΘΞ¤]/u.test(text) || given['type'] === 'unicode',
    'type "unicode" where the alphabet of GSM does not do',
  );
  return {
    status: 200,
    json: {
      'message-count': '1',
      messages: [
        {
          to: recipient.slice(1),
          'message-id': '0A0000000123ABCD1',
          status: '0',
          'remaining-balance': '3.14',
          'message-price': '0.03',
          network: '12345',
        },
      ],
    },
  };
}

function takeMessage(request: SeenRequest, must: Must): StandInAnswer {
  must(request.method === 'POST', 'POST');
  must(basicOf(request) === `${key}:${secret}`, 'key and secret by Basic');
  const body = jsonBody(request, must);
  must(body['message_type'] === 'text' && body['channel'] === 'sms', 'a text by SMS');
  must(body['to'] === recipient.slice(1), 'the number without "+"');
  must(body['from'] === sender, 'the sender');
  must(isText(body['text'], 1000), 'a text of at most 1,000 characters');
  return { status: 202, json: { message_uuid: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab' } };
}

/** The SMS API says of each part what became of it, with status 200. */
function refuseSms(status: string, text: string): StandInAnswer {
  return { status: 200, json: { 'message-count': '1', messages: [{ status, 'error-text': text }] } };
}

function refuseMessage(status: number, title: string, parameter?: string): StandInAnswer {
  const parameters =
    parameter === undefined
      ? {}
      : { invalid_parameters: [{ name: parameter, reason: `Invalid value for ${parameter}` }] };
  return {
    status,
    json: {
      type: `https://developer.vonage.com/api-errors#${status}`,
      title,
      detail: title,
      instance: 'bf0ca0bf',
      ...parameters,
    },
  };
}

function either(sms: StandInAnswer, message: StandInAnswer) {
  return (request: SeenRequest) => (request.path === '/v1/messages' ? message : sms);
}
