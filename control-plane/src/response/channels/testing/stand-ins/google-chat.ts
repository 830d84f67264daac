// Written from https://developers.google.com/workspace/chat/quickstart/webhooks, …/chat/api/reference/rest/v1/spaces.messages/create (Method: spaces.messages.create) and
// …/rest/v1/cards. Checked on 2026-11-23 against the second: 32,000 bytes, `requestId`, `messageReplyOption`, keys of threads of 4,000 characters, and that a webhook is
// answered with names only. Errors are in Google's common form (https://cloud.google.com/apis/design/errors); what each is about is from memory.
import type { Must, StandIn } from '../stand-in.ts';
import { type Body, isText, isWebAddress, jsonBody, objectOf, objectsOf } from './parts.ts';

const path = '/v1/spaces/AAAAgcSpace85/messages';
const query = '?key=gcKeyCredential85&token=gcTokenCredential85%3D';
const error = (code: number, status: string, message: string) => ({
  status: code,
  json: { error: { code, message, status } },
});

export const googleChat: StandIn = {
  channel: 'google-chat',
  documents: [
    'https://developers.google.com/workspace/chat/quickstart/webhooks',
    'https://developers.google.com/chat/api/reference/rest/v1/spaces.messages/create',
  ],
  settings: () => ({
    destinations: [{ key: 'ops', name: 'Operations', url: `https://chat.googleapis.com${path}${query}` }],
  }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === path, 'POST /v1/spaces/{space}/messages');
    must(
      request.query.get('key') === 'gcKeyCredential85' && request.query.get('token') === 'gcTokenCredential85=',
      'key and token',
    );
    const body = jsonBody(request, must);
    must(request.bytes.length <= 32_000, 'at most 32,000 bytes');
    const cards = objectsOf(body['cardsV2']);
    must(isText(body['text'], 4096) || cards.length > 0, 'a text or cards');
    for (const { card } of cards) checkCard(objectOf(card), must);
    must(request.query.get('requestId') !== null, 'an id of the request, so that a repetition is known');
    const { threadKey } = objectOf(body['thread']);
    if (threadKey !== undefined) {
      must(isText(threadKey, 4000), 'a key of a thread of at most 4,000 characters');
      const option = request.query.get('messageReplyOption');
      must(
        option === 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD' || option === 'REPLY_MESSAGE_OR_FAIL',
        'an option for replies, else the key is not regarded',
      );
    }
    return {
      status: 200,
      json: { name: 'spaces/AAAAgcSpace85/messages/abc.def', thread: { name: 'spaces/AAAAgcSpace85/threads/abc' } },
    };
  },
  troubles: {
    refused_credentials: error(401, 'UNAUTHENTICATED', 'The request does not have valid authentication credentials.'),
    unknown_target: error(404, 'NOT_FOUND', 'Space not found.'),
    // It does not say how long.
    rate_limited: error(429, 'RESOURCE_EXHAUSTED', "Quota exceeded for quota metric 'Space writes'."),
    refused_message: error(400, 'INVALID_ARGUMENT', 'Message cannot be empty.'),
    service_unavailable: error(503, 'UNAVAILABLE', 'The service is currently unavailable.'),
  },
};

const widgets = new Set(['textParagraph', 'decoratedText', 'buttonList', 'divider', 'image', 'grid', 'columns']);

function checkCard(card: Body, must: Must): void {
  const { title } = objectOf(card['header']);
  must(card['header'] === undefined || typeof title === 'string', 'a header with a title');
  const sections = objectsOf(card['sections']);
  must(sections.length > 0, 'sections');
  const all = sections.flatMap((section) => objectsOf(section['widgets']));
  must(all.length <= 100, 'at most 100 widgets');
  for (const widget of all) {
    const names = Object.keys(widget).filter((name) => name !== 'horizontalAlignment');
    must(names.length === 1 && widgets.has(names[0] ?? ''), `one kind of widget: ${names.join(', ')}`);
    must(
      widget['textParagraph'] === undefined || typeof objectOf(widget['textParagraph'])['text'] === 'string',
      'a text',
    );
    must(
      widget['decoratedText'] === undefined || typeof objectOf(widget['decoratedText'])['text'] === 'string',
      'a text',
    );
    for (const button of objectsOf(objectOf(widget['buttonList'])['buttons'])) {
      const { url } = objectOf(objectOf(button['onClick'])['openLink']);
      must(typeof button['text'] === 'string' && isWebAddress(url), 'buttons with text and link');
    }
  }
}
