// Written from https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks, https://api.slack.com/reference/block-kit/blocks,
// https://docs.slack.dev/messaging/formatting-message-text, https://docs.slack.dev/apis/web-api/rate-limits and
// https://api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks (Improving error conditions for Incoming Webhooks). Checked on 2026-11-23 against the last
// (words and statuses of errors), for its other words against clients that quote the first, and for the lengths of blocks against quotations of its pages on blocks
// (Section block, Header block) and the limits that the library slackblocks lists. The headers of a rate are from memory.
import type { Must, StandIn } from '../stand-in.ts';
import { isText, isWebAddress, jsonBody, objectOf, objectsOf } from './parts.ts';
import type { Body } from './parts.ts';

const path = '/services/T00000000/B00000000/tcCredential91xxxxxxxxxx';

/** Slack's incoming webhooks, which take blocks. */
export const teamChat: StandIn = {
  channel: 'team-chat',
  documents: [
    'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks',
    'https://api.slack.com/reference/block-kit/blocks',
    'https://docs.slack.dev/messaging/formatting-message-text',
    'https://docs.slack.dev/apis/web-api/rate-limits',
    'https://api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks',
  ],
  settings: (baseUrl) => ({ destinations: [{ key: 'ops', name: 'Operations', url: baseUrl + path }] }),
  target: 'ops',
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === path, 'POST to the address of the webhook');
    const body = jsonBody(request, must);
    // With blocks it is what notifications and screen readers say.
    must(isText(body['text'], 40_000), 'a text beside the blocks');
    mustBeMarkup(body['text'], must, 'the text');
    const attachments = objectsOf(body['attachments']);
    must(attachments.length <= 100, 'at most 100 attachments');
    for (const blocks of [body['blocks'], ...attachments.map((each) => each['blocks'])]) mustBeBlocks(blocks, must);
    for (const attachment of attachments) {
      const colour = attachment['color'];
      must(colour === undefined || matches(colour, /^(good|warning|danger|#?[0-9a-f]{6})$/i), 'a colour');
    }
    return { status: 200, text: 'ok' };
  },
  troubles: {
    refused_credentials: { status: 403, text: 'invalid_token' },
    unknown_target: { status: 404, text: 'no_service' },
    rate_limited: { status: 429, headers: { 'retry-after': '7' }, text: 'rate_limited' },
    refused_message: { status: 400, text: 'invalid_payload' },
    service_unavailable: { status: 500, text: 'rollup_error' },
  },
  saysHowLong: true,
};

function mustBeBlocks(value: unknown, must: Must): void {
  if (value === undefined) return;
  const blocks = objectsOf(value);
  must(Array.isArray(value) && blocks.length === value.length, 'a list of blocks');
  must(blocks.length <= 50, 'at most 50 blocks');
  for (const block of blocks) mustBeBlock(block, must);
}

function mustBeBlock(block: Body, must: Must): void {
  const type = String(block['type']);
  const elements = objectsOf(block['elements']);
  if (type === 'header') {
    must(objectOf(block['text'])['type'] === 'plain_text', 'plain text in a header');
    mustBeText(block['text'], 150, must, 'a header');
  } else if (type === 'section') {
    const fields = objectsOf(block['fields']);
    must(block['text'] !== undefined || fields.length > 0, 'a text or fields in a section');
    if (block['text'] !== undefined) mustBeText(block['text'], 3_000, must, 'a section');
    must(fields.length <= 10, 'at most 10 fields in a section');
    for (const field of fields) mustBeText(field, 2_000, must, 'a field');
  } else if (type === 'context') {
    must(elements.length >= 1 && elements.length <= 10, '1 to 10 elements in a context');
    for (const element of elements) mustBeText(element, 3_000, must, 'a context');
  } else if (type === 'actions') {
    must(elements.length >= 1 && elements.length <= 25, '1 to 25 elements in actions');
    const ids = elements.flatMap((element) => element['action_id'] ?? []);
    must(new Set(ids).size === ids.length, 'an action_id that is no other element’s');
    for (const element of elements) mustBeButton(element, must);
  } else {
    must(type === 'divider', `a block that is known here, not ${type}`);
  }
}

/** Of an interactive element a webhook without an app behind it can only open an address. */
function mustBeButton(element: Body, must: Must): void {
  must(element['type'] === 'button', 'a button');
  must(objectOf(element['text'])['type'] === 'plain_text', 'plain text on a button');
  mustBeText(element['text'], 75, must, 'a button');
  must(
    isWebAddress(element['url']) && String(element['url']).length <= 3_000,
    'an address of at most 3,000 characters',
  );
  must(element['style'] === undefined || matches(element['style'], /^(primary|danger)$/), 'a style that is known');
}

function mustBeText(value: unknown, most: number, must: Must, where: string): void {
  const { type, text } = objectOf(value);
  must(type === 'plain_text' || type === 'mrkdwn', `${where}: an object of text`);
  must(isText(text, most) && text.length <= most, `${where}: 1 to ${most} characters`);
  if (type === 'mrkdwn') mustBeMarkup(text, must, where);
}

/** `&`, `<` and `>` stand for themselves only when they are escaped; what is in angle brackets is a link, a mention or a date. */
function mustBeMarkup(value: unknown, must: Must, where: string): void {
  const text = String(value);
  const mentions = /<[!@#]|<subteam/.exec(text);
  must(mentions === null, `${where}: no mention of anybody`);
  const rest = text.replaceAll(/<(?:https?|mailto):[^<>|\s]+(?:\|[^<>\n]*)?>/g, '');
  // A quotation begins with one at the start of a line.
  must(!/<|(?<=[^\n])>/.test(rest), `${where}: angle brackets that are escaped`);
  must(!/&(?!(?:amp|lt|gt);)/.test(rest), `${where}: ampersands that are escaped`);
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}
