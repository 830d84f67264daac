import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Channel, IncomingResponse } from '../channel.ts';
import { secretText } from '../setting-shapes.ts';
import type { Message } from '../../messages/index.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, type Markup, plain } from './shared/lay-out.ts';
import {
  isAccepted,
  type Meaning,
  rateLimited,
  refusal,
  refusedCredentials,
  refusedMessage,
  unavailable,
  unexpectedAnswer,
  unknownTarget,
} from './shared/refusal.ts';

const title = 'VK';
const version = '5.199';

const settings = z.strictObject({
  token: secretText(500).describe('Access key of a community with the right to send messages.'),
});

type Content = { readonly message: string; readonly random_id: string };

/** Messages of a community (`messages.send`), at most 4,096 characters. The same `random_id` from the same community is taken once. */
export const vk: Channel<z.output<typeof settings>, Content> = {
  name: 'vk',
  aliases: ['vkontakte'],
  title,
  documentation: 'https://dev.vk.com/ru/method/messages.send',
  setup:
    'In the community open "Manage", "API usage", create an access key with "Messages", and allow messages. Whoever shall be told writes to the community first; the target is their numeric id, or 2000000000 plus the number of a chat which the community belongs to.',
  settings,
  secrets: ['token'],
  target: {
    label: 'id of a user, or 2000000000 plus the number of a chat',
    example: '1234567',
    parse: (text) => {
      const target = text.trim().replace(/^id(?=\d)/i, '');
      if (/^[1-9]\d{0,15}$/.test(target)) return { ok: true, target };
      return { ok: false, problem: 'a whole number, as it stands in vk.com/id…' };
    },
    mask: (target) => `…${target.slice(-4)}`,
    // Chats are numbered anew for each community.
    reaches: (target, { token }) => (Number(target) > 2_000_000_000 ? `${target} ${token}` : target),
  },
  baseUrl: 'https://api.vk.com',
  render,
  send: async ({ message, random_id }, { settings, target }, io) => {
    const secrets = [settings.token];
    const answer = await io.request({
      method: 'POST',
      url: `${io.baseUrl}/method/messages.send`,
      body: new URLSearchParams({
        peer_id: target,
        random_id,
        message,
        disable_mentions: '1',
        dont_parse_links: '1',
        v: version,
        access_token: settings.token,
      }),
      secrets,
    });
    const response = fieldOf(answer, 'response');
    if (isAccepted(answer) && typeof response === 'number') return referenceOf(response);
    const code = fieldOf(answer, 'error', 'error_code');
    if (isAccepted(answer) && typeof code !== 'number') throw unexpectedAnswer(title);
    const detail = fieldOf(answer, 'error', 'error_msg');
    throw refusal(answer, { title, meaning: meaningOf(answer, code), detail, secrets, now: io.now() });
  },
};

// A text is plain but for mentions: `@id1`, `*id1 (name)`, `[club1|name]`.
const markup: Markup = {
  ...plain,
  escape: withoutMentions,
  title: withoutMentions,
  heading: (text) => `${withoutMentions(text)}:`,
  fact: (label, value) => `${withoutMentions(label)}: ${withoutMentions(value)}`,
};

function withoutMentions(text: string): string {
  return text.replaceAll(/[@*](?=\w)|\[(?=[^[\]\n]*\|)/gu, '$&\u200b');
}

function render(message: Message): Content {
  return { message: layOut(message, markup, 4096), random_id: String(randomIdOf(message.id)) };
}

/** A positive 32-bit number that is the same for the same message. */
export function randomIdOf(id: string): number {
  return createHash('sha256').update(id).digest().readUInt32BE(0) & 0x7f_ff_ff_ff || 1;
}

// Errors come with status 200. Codes are those of VKCOM/vk-api-schema, errors.json.
const credentials = new Set([2, 4, 5, 7, 15, 16, 17, 20, 23, 24, 27, 28, 42, 1117]);
const passing = new Set([1, 10, 13, 32, 36, 43]);
const limits = new Set([6, 9, 14, 29, 103, 601]);
// Unknown, removed, closed to the community, or waiting for its reader to write: those of 900 and more that `messages.send` names.
const targets = new Set([
  18, 30, 37, 39, 104, 113, 900, 901, 902, 917, 922, 925, 927, 932, 936, 945, 946, 950, 962, 985, 987, 988, 1012,
]);

function meaningOf(answer: IncomingResponse, code: unknown): Meaning | undefined {
  if (!isAccepted(answer) || typeof code !== 'number') return undefined;
  if (credentials.has(code)) return refusedCredentials;
  if (targets.has(code)) return unknownTarget;
  if (limits.has(code)) return rateLimited;
  return passing.has(code) ? unavailable : refusedMessage;
}
