// Written from memory of https://docs.rocket.chat/docs/integrations (Incoming webhook) and the attachment fields of
// https://developer.rocket.chat/apidocs/post-message, which could not be read. Checked on 2026-11-23 against the server's source, RocketChat/Rocket.Chat:
// apps/meteor/app/integrations/server/api/api.ts (a webhook that is switched off is a 503, an id or token that is wrong throws, which becomes a 400; a channel of one's own needs
// leave) and what others quote of apps/meteor/app/api/server/ApiClass.ts (a 429 has X-RateLimit-Reset in milliseconds since the epoch, and no `Retry-After`).
import type { StandIn } from '../stand-in.ts';
import { hasOnly, isText, isWebAddress, jsonBody, objectsOf, textOf } from './parts.ts';

const path = '/hooks/64b0c2d1e0f1a2b3c4d5e6f7/rcCredential84abcdefghijklmnopqrstuv';
const fields = [
  'text',
  'channel',
  'roomId',
  'alias',
  'username',
  'avatar',
  'icon_url',
  'emoji',
  'icon_emoji',
  'attachments',
  'parseUrls',
  'tmid',
];

export const rocketchat: StandIn = {
  channel: 'rocketchat',
  documents: ['https://docs.rocket.chat/docs/integrations', 'https://developer.rocket.chat/apidocs/post-message'],
  settings: (baseUrl) => ({ destinations: [{ key: 'ops', name: 'Operations', url: baseUrl + path }] }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === path, 'POST /hooks/{id}/{token}');
    const body = jsonBody(request, must);
    must(hasOnly(body, fields), 'known fields');
    must(
      body['channel'] === undefined && body['roomId'] === undefined,
      'the channel of the webhook, which it must not name',
    );
    const attachments = objectsOf(body['attachments']);
    must(typeof body['text'] === 'string' || attachments.length > 0, 'a text or attachments');
    must(body['text'] === undefined || isText(body['text'], 5000), 'at most 5,000 characters, as servers are set up');
    for (const attachment of attachments) {
      must(
        attachment['color'] === undefined || /^#[0-9a-f]{6}$/i.test(textOf(attachment['color'])),
        'a colour in hexadecimal digits',
      );
      must(
        attachment['title_link'] === undefined || isWebAddress(attachment['title_link']),
        'an address behind the title',
      );
      must(
        objectsOf(attachment['fields']).every(
          ({ title, value }) => typeof title === 'string' && typeof value === 'string',
        ),
        'fields with title and value',
      );
    }
    return { status: 200, json: { success: true } };
  },
  troubles: {
    // It was removed, or has another token. Older versions said so by 404.
    unknown_target: { status: 400, json: { success: false, error: 'Invalid integration id or token provided.' } },
    rate_limited: () => ({
      status: 429,
      headers: {
        'x-ratelimit-limit': '10',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Date.now() + 7_900),
      },
      json: { success: false, error: 'Error, too many requests. [error-too-many-requests]' },
    }),
    refused_message: { status: 400, json: { success: false, error: 'body-params-required' } },
    service_unavailable: { status: 503, text: 'Service Unavailable' },
  },
  saysHowLong: true,
};
