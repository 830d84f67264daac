// Written from src/docs/swagger.yaml of bbernhard/signal-cli-rest-api (POST /v2/send), from memory; the form of its requests was read in other senders on
// 2026-11-23. Its errors are `{error}` with the words of signal-cli, status 400.
import type { StandIn } from '../stand-in.ts';
import { hasOnly, isText, jsonBody } from './parts.ts';

const sender = '+4915200000088';
const recipient = '+4915200000188';
const fields = [
  'message',
  'number',
  'recipients',
  'base64_attachments',
  'text_mode',
  'notify_self',
  'mentions',
  'quote_author',
  'link_preview',
];

export const signal: StandIn = {
  channel: 'signal',
  documents: ['https://bbernhard.github.io/signal-cli-rest-api/'],
  settings: (baseUrl) => ({ api_url: baseUrl, number: sender }),
  target: recipient,
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === '/v2/send', 'POST /v2/send');
    const body = jsonBody(request, must);
    must(hasOnly(body, fields), 'known fields');
    must(isText(body['message'], 65_536), 'a message');
    must(body['number'] === sender, 'the registered number as sender');
    must(JSON.stringify(body['recipients']) === JSON.stringify([recipient]), 'the recipient, in a list');
    must(['normal', 'styled', undefined].includes(body['text_mode'] as string | undefined), 'a text mode');
    return { status: 201, json: { timestamp: '1772330400000' } };
  },
  troubles: {
    unknown_target: { status: 400, json: { error: `Failed to send message: Unregistered user "${recipient}"` } },
    rate_limited: {
      status: 429,
      json: { error: 'Failed to send (some) messages due to untrusted rate limit', challenge_tokens: [] },
    },
    refused_message: { status: 400, json: { error: "Couldn't process request - invalid request" } },
    service_unavailable: { status: 500, json: { error: 'signal-cli is not available' } },
  },
};
