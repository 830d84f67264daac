import { z } from 'zod';
import type { Channel, IncomingResponse } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsWith, webAddress } from '../setting-shapes.ts';
import { bytes } from './shared/cut.ts';
import { fieldOf } from './shared/fields.ts';
import { layOut, type Markup, plain } from './shared/lay-out.ts';
import {
  isAccepted,
  type Meaning,
  meaningForDestination,
  rateLimited,
  refusal,
  refusedMessage,
  unavailable,
  unexpectedAnswer,
  unknownTarget,
} from './shared/refusal.ts';

const title = 'WeCom';

const settings = z.strictObject({
  destinations: destinationsWith({
    url: webAddress.describe('Webhook of the group robot: https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=…'),
  }),
});

// A text too calls those whom it names as `<@userid>`, and everybody by `<@all>`.
const markup: Markup = {
  ...plain,
  escape: withoutMentions,
  title: withoutMentions,
  heading: (text) => `${withoutMentions(text)}:`,
  fact: (label, value) => `${withoutMentions(label)}: ${withoutMentions(value)}`,
  link: ({ label, url }) => `${withoutMentions(label)}: ${url.replaceAll('<', '%3C')}`,
};

function withoutMentions(text: string): string {
  return text.replaceAll('<@', '<\u200b@');
}

/** Group robot: 20 messages a minute. Sent as text (at most 2,048 bytes), since its Markdown has no escape. */
export const wecom: Channel<z.output<typeof settings>, Readonly<Record<string, unknown>>> = {
  name: 'wecom',
  title,
  documentation: 'https://developer.work.weixin.qq.com/document/path/91770',
  setup:
    'In the WeCom group choose "Add group robot", create one and copy its webhook into a destination. The target is the key of the destination.',
  settings,
  secrets: ['destinations[].url'],
  target: destinationTarget('key of a WeCom destination'),
  render: (message) => ({ msgtype: 'text', text: { content: layOut(message, markup, 2048, {}, bytes) } }),
  send: async (body, { settings, target }, io) => {
    const { url } = destinationOf(settings, target);
    const secrets = [url];
    const answer = await io.request({ method: 'POST', url, body, secrets });
    const code = fieldOf(answer, 'errcode');
    if (isAccepted(answer) && code === 0) return {};
    if (isAccepted(answer) && typeof code !== 'number') throw unexpectedAnswer(title);
    throw refusal(answer, {
      title,
      meaning: meaningOf(answer, code),
      detail: fieldOf(answer, 'errmsg'),
      secrets,
      now: io.now(),
    });
  },
};

// Errors come with status 200.
function meaningOf(answer: IncomingResponse, code: unknown): Meaning {
  if (!isAccepted(answer)) return meaningForDestination(answer.status);
  if (code === -1) return unavailable;
  // The key is of no robot, or of one that was removed.
  if (code === 93_000 || code === 93_008) return unknownTarget;
  if (code === 45_009 || code === 45_033) return { ...rateLimited, retryAfterMs: 60_000 };
  return refusedMessage;
}
