import { z } from 'zod';
import { escapeZulip } from '../../messages/index.ts';
import type { Channel, IncomingResponse, TargetRule } from '../channel.ts';
import { lineText, secretText, webAddress } from '../setting-shapes.ts';
import { basic } from './shared/basic.ts';
import { cut } from './shared/cut.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, type Markup } from './shared/lay-out.ts';
import {
  isAccepted,
  type Meaning,
  notFoundByProxy,
  rateLimited,
  refusal,
  refusedCredentials,
  refusedMessage,
  secondsToMs,
  unknownTarget,
} from './shared/refusal.ts';

const service = 'Zulip';

const settings = z.strictObject({
  site_url: webAddress.describe('Address of the organization, such as https://example.zulipchat.com.'),
  bot_email: z.email().max(254).describe('Mail address of the bot.'),
  api_key: secretText(200).describe('API key of the bot.'),
  topic: lineText(60)
    .optional()
    .describe('Topic where a target names none; absent: the name of what a message is about.'),
});
type Settings = z.infer<typeof settings>;

/** `#channel`, `#channel > topic`, or the mail address of a person. */
const target: TargetRule<Settings> = {
  label: 'channel, channel and topic, or mail address of a person',
  example: '#operations > alerts',
  parse: (text) => {
    const typed = text.trim();
    if (z.email().max(254).safeParse(typed).success) return { ok: true, target: typed.toLowerCase() };
    const [, channel, topic] = /^#([^>\p{C}]{1,60})(?:>([^\p{C}]{1,60}))?$/u.exec(typed) ?? [];
    if (channel === undefined || channel.trim() === '' || topic?.trim() === '') {
      return { ok: false, problem: 'begins with "#" and the name of a channel, or is a mail address' };
    }
    return { ok: true, target: topic === undefined ? `#${channel.trim()}` : `#${channel.trim()} > ${topic.trim()}` };
  },
  mask: (text) => (text.startsWith('#') ? text : text.replace(/^(.).*@/, '$1…@')),
  reaches: (text, { site_url: site }) => `${site.replace(/\/+$/, '')} ${text}`,
};

/**
 * Zulip by its REST API, as a bot. A message may have 10,000 characters and a topic 60. Repetitions have no key: `local_id` is for one's own event queue only.
 */
export const zulip: Channel<Settings> = {
  name: 'zulip',
  title: service,
  documentation: 'https://zulip.com/api/send-message',
  setup:
    'In Zulip open "Personal settings", "Bots", add an "Incoming webhook" bot, and copy its mail address and API key. Let it be a member of private channels.',
  settings,
  secrets: ['api_key'],
  target,
  render: (message, { topic: usualTopic }, to) => {
    const content = layOut(message, markup, 9000);
    if (!to.startsWith('#')) return { type: 'direct', to: JSON.stringify([to]), content };
    const [channel = '', topic] = to.slice(1).split(' > ');
    const about = message.subjects[0]?.name ?? message.workspace.name;
    return {
      type: 'stream',
      to: nameOf(channel),
      topic: cut(topic ?? usualTopic ?? (about || 'Parallax'), 60),
      content,
    };
  },
  send: async (content, { settings }, io) => {
    const { site_url, bot_email, api_key } = settings;
    const authorization = basic(bot_email, api_key);
    const answer = await io.request({
      method: 'POST',
      url: `${site_url.replace(/\/+$/, '')}/api/v1/messages`,
      headers: { authorization },
      body: new URLSearchParams(content as Record<string, string>),
      secrets: [api_key, authorization],
    });
    const isRefused = fieldOf(answer, 'result') === 'error';
    if (isAccepted(answer) && !isRefused) return referenceOf(fieldOf(answer, 'id'));
    const detail = fieldOf(answer, 'msg');
    throw refusal(answer, {
      title: service,
      meaning: meaningOf(answer) ?? notFoundByProxy(answer, fieldOf(answer, 'result') === 'error'),
      detail,
      secrets: [api_key],
      now: io.now(),
    });
  },
};

/**
 * A channel by its name: what reads as JSON is read so, and then "2024" is the channel of that number and "null" none at all. A name in JSON is always a name.
 */
function nameOf(channel: string): string {
  return isJson(channel) ? JSON.stringify(channel) : channel;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The codes of "Error handling"; a person that does not exist, or a channel that the bot may not write to, is a BAD_REQUEST with a sentence. */
function meaningOf(answer: IncomingResponse): Meaning | undefined {
  const code = fieldOf(answer, 'code');
  if (code === 'STREAM_DOES_NOT_EXIST' || code === 'CHANNEL_DOES_NOT_EXIST') return unknownTarget;
  if (
    code === 'UNAUTHORIZED' ||
    code === 'USER_DEACTIVATED' ||
    code === 'REALM_DEACTIVATED' ||
    code === 'INVALID_API_KEY'
  ) {
    return refusedCredentials;
  }
  if (code === 'RATE_LIMIT_HIT') return { ...rateLimited, retryAfterMs: secondsToMs(fieldOf(answer, 'retry-after')) };
  const words = fieldOf(answer, 'msg');
  if (code === 'BAD_REQUEST' && typeof words === 'string') {
    return /invalid email|not authorized to send|does not exist|no longer using zulip|deactivated/i.test(words)
      ? unknownTarget
      : refusedMessage;
  }
  return undefined;
}

const markup: Markup = {
  escape: escapeZulip,
  title: (text) => `**${escapeZulip(text)}**`,
  heading: (text) => `**${escapeZulip(text)}**`,
  fact: (label, value) => `**${escapeZulip(label)}:** ${escapeZulip(value)}`,
  link: ({ label, url }) =>
    `[${escapeZulip(label).replaceAll(/[[\]]/g, '')}](${url.replaceAll('(', '%28').replaceAll(')', '%29')})`,
};
