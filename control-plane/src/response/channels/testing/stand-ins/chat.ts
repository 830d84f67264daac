// Written from https://docs.discord.com/developers/resources/webhook (Execute Webhook) in discord/discord-api-docs, read on 2026-11-23, and its list
// of JSON error codes (docs/topics/Opcodes_and_Status_Codes.md there, the beginning). Checked on the same day against libraries that quote the documentation: the rest of the
// codes (discord-api-types), embed limits (@sapphire/discord-utilities), and that `wait` tells of messages that are not saved. Also against
// https://discord.com/developers/docs/reference (API Reference: without a version it is the default, which was the sixth) and docs/topics/Rate_Limits.md, whose older form has
// milliseconds, as that version does.
import type { StandIn } from '../stand-in.ts';
import { type Body, hasOnly, isText, isTime, isWebAddress, jsonBody, objectOf, objectsOf } from './parts.ts';

const path = '/api/webhooks/1122334455667788990/dc-token-Credential_81';
const fields = [
  'content',
  'username',
  'avatar_url',
  'tts',
  'embeds',
  'allowed_mentions',
  'components',
  'flags',
  'thread_name',
  'applied_tags',
  'poll',
];
const embedFields = [
  'title',
  'description',
  'url',
  'timestamp',
  'color',
  'footer',
  'image',
  'thumbnail',
  'author',
  'fields',
  'type',
];

export const chat: StandIn = {
  channel: 'chat',
  documents: ['https://docs.discord.com/developers/resources/webhook#execute-webhook'],
  settings: () => ({ destinations: [{ key: 'ops', name: 'Operations', url: `https://discord.com${path}` }] }),
  target: 'ops',
  handle: (request, must) => {
    must(
      request.method === 'POST' && request.path === path.replace('/api/', '/api/v10/'),
      'POST /webhooks/{id}/{token} of version 10',
    );
    must(
      [...request.query.keys()].every((key) => ['wait', 'thread_id', 'with_components'].includes(key)),
      'known parameters',
    );
    const body = jsonBody(request, must);
    must(hasOnly(body, fields), 'known fields');
    const embeds = objectsOf(body['embeds']);
    must(isText(body['content'], 2000) || embeds.length > 0, 'a content of at most 2,000 characters, or embeds');
    must(
      body['content'] === undefined || body['content'] === '' || isText(body['content'], 2000),
      'at most 2,000 characters',
    );
    must(embeds.length <= 10, 'at most 10 embeds');
    for (const embed of embeds) checkEmbed(embed, must);
    must(
      embeds.map(lengthOf).reduce((sum, length) => sum + length, 0) <= 6000,
      'at most 6,000 characters in all embeds',
    );
    const { parse } = objectOf(body['allowed_mentions']);
    must(Array.isArray(parse) && parse.length === 0, 'mentions of nobody');
    // Without `wait` there is no body.
    if (request.query.get('wait') !== 'true') return { status: 204 };
    return {
      status: 200,
      json: { id: '1234567890123456789', type: 0, channel_id: '99', content: body['content'] ?? '' },
    };
  },
  troubles: {
    unknown_target: { status: 404, json: { message: 'Unknown Webhook', code: 10_015 } },
    rate_limited: {
      status: 429,
      headers: {
        'retry-after': '7',
        'x-ratelimit-limit': '5',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset-after': '7',
      },
      json: { message: 'You are being rate limited.', retry_after: 7, global: false },
    },
    refused_message: { status: 400, json: { embeds: ['0'], message: 'Invalid Form Body', code: 50_035 } },
    service_unavailable: { status: 502, text: 'Bad Gateway' },
  },
  saysHowLong: true,
};

function checkEmbed(embed: Body, must: (holds: boolean, what: string) => void): void {
  must(hasOnly(embed, embedFields), 'known fields of an embed');
  must(embed['title'] === undefined || isText(embed['title'], 256), 'a title of at most 256 characters');
  must(
    embed['description'] === undefined || embed['description'] === '' || isText(embed['description'], 4096),
    'a description of at most 4,096 characters',
  );
  must(embed['url'] === undefined || isWebAddress(embed['url']), 'an address of http or https');
  const color = embed['color'];
  must(
    color === undefined || (Number.isInteger(color) && Number(color) >= 0 && Number(color) <= 0xff_ff_ff),
    'a colour as a number',
  );
  must(embed['timestamp'] === undefined || isTime(embed['timestamp']), 'a time in ISO 8601');
  const shown = objectsOf(embed['fields']);
  must(shown.length <= 25, 'at most 25 fields');
  must(
    shown.every(({ name, value }) => isText(name, 256) && isText(value, 1024)),
    'fields with a name of at most 256 and a value of at most 1,024 characters',
  );
  const { text } = objectOf(embed['footer']);
  must(text === undefined || isText(text, 2048), 'a footer of at most 2,048 characters');
  const { name } = objectOf(embed['author']);
  must(name === undefined || isText(name, 256), 'an author of at most 256 characters');
}

function lengthOf(embed: Body): number {
  const texts = [
    embed['title'],
    embed['description'],
    objectOf(embed['footer'])['text'],
    objectOf(embed['author'])['name'],
  ];
  const all = [...texts, ...objectsOf(embed['fields']).flatMap(({ name, value }) => [name, value])];
  return all
    .map((text) => (typeof text === 'string' ? Array.from(text).length : 0))
    .reduce((sum, length) => sum + length, 0);
}
