// Written from https://zulip.com/api/send-message, https://zulip.com/api/http-headers and https://zulip.com/api/rest-error-handling ("Error handling"). Checked on 2026-11-23 against
// the last of these (codes; sentences are translated, so codes come first) and against the server's source, zulip/zulip: zerver/actions/message_send.py
// (extract_stream_indicator: `to` is read as JSON where it is some, else as a name). That too long contents are refused is from the documented limit; the server cuts them.
import type { StandIn } from '../stand-in.ts';
import { basicOf, isText } from './parts.ts';

const email = 'parallax-bot@example.zulipchat.com';
const key = 'zuCredential87abcdefghijklmnopqr';

export const zulip: StandIn = {
  channel: 'zulip',
  documents: ['https://zulip.com/api/send-message', 'https://zulip.com/api/rest-error-handling'],
  settings: (baseUrl) => ({ site_url: baseUrl, bot_email: email, api_key: key }),
  target: '#operations > alerts',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === '/api/v1/messages', 'POST /api/v1/messages');
    must(basicOf(request) === `${email}:${key}`, 'address and key of the bot by Basic');
    must(/^application\/x-www-form-urlencoded\b/.test(request.headers['content-type'] ?? ''), 'a form');
    const { form } = request;
    const type = form.get('type') ?? '';
    must(['stream', 'channel', 'direct', 'private'].includes(type), 'a type');
    const to = form.get('to') ?? '';
    must(to !== '', 'a recipient');
    must(!/^(\d+|true|false|null)$/.test(to), 'a name that is not read as the number of a channel');
    must(isText(form.get('content'), 10_000), 'a content of at most 10,000 characters');
    if (type === 'stream' || type === 'channel')
      must(isText(form.get('topic'), 60), 'a topic of at most 60 characters');
    return { status: 200, json: { result: 'success', msg: '', id: 42 } };
  },
  troubles: {
    refused_credentials: { status: 401, json: { result: 'error', msg: 'Invalid API key', code: 'INVALID_API_KEY' } },
    unknown_target: {
      status: 400,
      json: {
        result: 'error',
        msg: "Channel 'operations' does not exist",
        code: 'STREAM_DOES_NOT_EXIST',
        stream: 'operations',
      },
    },
    rate_limited: {
      status: 429,
      headers: { 'retry-after': '7', 'x-ratelimit-remaining': '0' },
      json: { result: 'error', msg: 'API usage exceeded rate limit', code: 'RATE_LIMIT_HIT', 'retry-after': 7 },
    },
    refused_message: { status: 400, json: { result: 'error', msg: 'Message must not be empty', code: 'BAD_REQUEST' } },
    service_unavailable: { status: 502, text: 'Bad Gateway' },
  },
  saysHowLong: true,
};
