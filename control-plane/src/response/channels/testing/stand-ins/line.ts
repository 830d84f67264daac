// Written from https://developers.line.biz/en/reference/messaging-api/#send-push-message and https://developers.line.biz/en/docs/messaging-api/retrying-api-request/ (Retry
// failed API requests). Checked on 2026-11-23 against the latter, against messaging-api.yml of line/line-openapi (address, `X-Line-Retry-Key` as a UUID, statuses 200, 400, 403,
// 409 and 429, one to five messages), and against https://developers.line.biz/en/faq/tags/message/ (an id that does not exist is a 400 "Failed to send messages", who
// blocks the account a 200; what is a surrogate pair counts as two). There is no `Retry-After`.
import type { StandIn } from '../stand-in.ts';
import { hasOnly, isText, jsonBody, objectsOf } from './parts.ts';

const token = 'lnCredential94abcdefghijklmnopqrstuvwxyz0123456789=';
const user = 'U4af4980629a1b2c3d4e5f60718293a4b';

export const line: StandIn = {
  channel: 'line',
  documents: [
    'https://developers.line.biz/en/reference/messaging-api/#send-push-message',
    'https://developers.line.biz/en/docs/messaging-api/retrying-api-request/',
  ],
  settings: () => ({ channel_access_token: token }),
  target: user,
  handle: (request, must, seen) => {
    must(request.method === 'POST' && request.path === '/v2/bot/message/push', 'POST /v2/bot/message/push');
    must(request.headers['authorization'] === `Bearer ${token}`, 'the channel access token as bearer');
    const retryKey = request.headers['x-line-retry-key'];
    must(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(retryKey ?? ''), 'a retry key that is a UUID');
    const body = jsonBody(request, must);
    must(hasOnly(body, ['to', 'messages', 'notificationDisabled', 'customAggregationUnits']), 'known fields');
    must(body['to'] === user, 'the user');
    const messages = objectsOf(body['messages']);
    must(messages.length >= 1 && messages.length <= 5, 'one to five messages');
    for (const { type, text, altText } of messages) {
      must(type === 'text' || type === 'flex', 'a text or a flex message');
      // Counted in UTF-16 code units.
      must(type !== 'text' || (isText(text, 5000) && text.length <= 5000), 'a text of at most 5,000 units');
      must(type !== 'flex' || isText(altText, 1500), 'an alternative text');
    }
    // The same key again: it was accepted before.
    if (seen.some(({ headers }) => headers['x-line-retry-key'] === retryKey)) {
      return {
        status: 409,
        headers: { 'x-line-accepted-request-id': '123e4567' },
        json: { message: 'The retry key is already accepted', sentMessages: [{ id: '461230966842064897' }] },
      };
    }
    return { status: 200, json: { sentMessages: [{ id: '461230966842064897', quoteToken: 'IStG5h1Tz7b' }] } };
  },
  troubles: {
    refused_credentials: {
      status: 401,
      json: { message: 'Authentication failed. Confirm that the access token in the authorization header is valid.' },
    },
    unknown_target: {
      status: 400,
      json: { message: 'Failed to send messages' },
    },
    rate_limited: { status: 429, json: { message: 'The API rate limit has been exceeded. Try again later.' } },
    refused_message: {
      status: 400,
      json: {
        message: 'The request body has 1 error(s)',
        details: [{ message: 'May not be empty', property: 'messages[0].text' }],
      },
    },
    service_unavailable: { status: 500, json: { message: 'The API server is temporarily unavailable' } },
  },
};
