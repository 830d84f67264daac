// Written from https://docs.mattermost.com/developers/integrate/webhooks/incoming (Incoming webhooks) and …/reference/message-attachments (Use message attachments). Checked
// on 2026-11-23 against both (address, fields, the answer "ok", a required fallback) and against HandleIncomingWebhook of the server, mattermost/mattermost (ids and statuses of
// errors; of a channel that is gone, where the webhook's own is meant: 404 and app.channel.get.existing.app_error). The headers of a rate are
// those of throttled/throttled (http.go), by which the server counts.
import type { StandIn } from '../stand-in.ts';
import { hasOnly, isText, isWebAddress, jsonBody, objectOf, objectsOf, textOf } from './parts.ts';

const path = '/hooks/mmCredential83xxxxxxxxxxxx';
const fields = ['text', 'channel', 'username', 'icon_url', 'icon_emoji', 'attachments', 'type', 'props', 'priority'];
const attachmentFields = [
  'fallback',
  'color',
  'pretext',
  'text',
  'author_name',
  'author_link',
  'author_icon',
  'title',
  'title_link',
  'fields',
  'image_url',
  'thumb_url',
  'footer',
  'footer_icon',
  'actions',
];

export const mattermost: StandIn = {
  channel: 'mattermost',
  documents: [
    'https://docs.mattermost.com/developers/integrate/webhooks/incoming',
    'https://docs.mattermost.com/developers/integrate/reference/message-attachments',
  ],
  settings: (baseUrl) => ({ destinations: [{ key: 'ops', name: 'Operations', url: baseUrl + path }] }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === path, 'POST /hooks/{key}');
    const body = jsonBody(request, must);
    must(hasOnly(body, fields), 'known fields');
    const attachments = objectsOf(body['attachments']);
    must(typeof body['text'] === 'string' || attachments.length > 0, 'a text or attachments');
    must(
      body['text'] === undefined || textOf(body['text']).length <= 16_383 * 4,
      'a text that is split at most a few times',
    );
    for (const attachment of attachments) {
      must(hasOnly(attachment, attachmentFields), 'known fields of an attachment');
      must(isText(attachment['fallback'], 16_383), 'a fallback, which is required');
      must(
        attachment['color'] === undefined || /^#[0-9a-f]{6}$/i.test(textOf(attachment['color'])),
        'a colour in hexadecimal digits',
      );
      must(
        attachment['title_link'] === undefined || isWebAddress(attachment['title_link']),
        'an address behind the title',
      );
      for (const { title, value } of objectsOf(attachment['fields'])) {
        must(
          typeof title === 'string' && (typeof value === 'string' || typeof value === 'number'),
          'fields with title and value',
        );
      }
    }
    const card = objectOf(body['props'])['card'];
    must(card === undefined || typeof card === 'string', 'a card of text');
    return { status: 200, text: 'ok' };
  },
  troubles: {
    unknown_target: {
      status: 400,
      json: { id: 'web.incoming_webhook.invalid.app_error', message: 'Invalid webhook.', status_code: 400 },
    },
    rate_limited: {
      status: 429,
      headers: { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '0', 'retry-after': '7' },
      text: 'limit exceeded',
    },
    refused_message: {
      status: 400,
      json: { id: 'web.incoming_webhook.text.app_error', message: 'No text specified.', status_code: 400 },
    },
    service_unavailable: { status: 503, text: '' },
  },
  saysHowLong: true,
};
