// Written from src/docs/swagger.yaml of bbernhard/signal-cli-rest-api (POST /v2/send). Checked on 2026-11-23 against its src/api/api.go (the fields of SendMessageV2, 201 with
// {timestamp}, 400 with {error}, 429 with challenge tokens), also as it stands in a fork. The sentences of signal-cli
// were found in issues 267, 385, 696 and 857 there.
import type { StandIn } from '../stand-in.ts';
import { hasOnly, isText, jsonBody } from './parts.ts';

const sender = '+4915200000088';
const recipient = '+4915200000188';
const fields = [
  'message',
  'number',
  'recipients',
  'base64_attachments',
  'sticker',
  'mentions',
  'quote_timestamp',
  'quote_author',
  'quote_message',
  'quote_mentions',
  'text_mode',
  'edit_timestamp',
  'notify_self',
  'link_preview',
  'view_once',
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
    refused_credentials: { status: 400, json: { error: `User ${sender} is not registered.\n` } },
    unknown_target: {
      status: 400,
      json: {
        error: `Failed to send (some) messages:\n${recipient}: Unregistered user "${recipient}"\n1780698557041\n`,
      },
    },
    rate_limited: {
      status: 429,
      json: {
        error:
          "Rate limit. Use the attached challenge tokens to lift the rate limit restrictions via the '/v1/accounts/{number}/rate-limit-challenge' endpoint.",
        challenge_tokens: ['5b1c8f5e'],
        account: sender,
      },
    },
    refused_message: { status: 400, json: { error: "Couldn't process request - invalid request" } },
    service_unavailable: { status: 500, json: { error: 'signal-cli is not available' } },
  },
};
