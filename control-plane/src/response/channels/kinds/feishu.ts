import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Channel, IncomingResponse } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsWith, secretText, webAddress } from '../setting-shapes.ts';
import type { Message } from '../../messages/index.ts';
import { bytes, cut } from './shared/cut.ts';
import { fieldOf } from './shared/fields.ts';
import { layOut, plain } from './shared/lay-out.ts';
import {
  isAccepted,
  type Meaning,
  meaningForDestination,
  rateLimited,
  refusal,
  refusedDestination,
  refusedMessage,
  unavailable,
  unexpectedAnswer,
  unknownTarget,
} from './shared/refusal.ts';

const title = 'Feishu';

const settings = z.strictObject({
  destinations: destinationsWith({
    url: webAddress.describe(
      'Webhook of the bot: https://open.feishu.cn/open-apis/bot/v2/hook/…, of Lark https://open.larksuite.com/open-apis/bot/v2/hook/…',
    ),
    secret: secretText(200)
      .describe("Secret of the bot's signature verification; absent: it is secured otherwise.")
      .optional(),
  }),
});

/**
 * Custom bot of a group, of Feishu and of Lark: 100 messages a minute and 5 a second, 20 kB each. A card whose texts are all of the kind that has no markup.
 * A bot that is secured by a keyword takes only messages that hold it: "Parallax" stands in each.
 */
export const feishu: Channel<z.output<typeof settings>, Readonly<Record<string, unknown>>> = {
  name: 'feishu',
  aliases: ['lark'],
  title,
  documentation: 'https://open.larkoffice.com/document/ukTMukTMukTM/ucTM5YjL3ETO24yNxkjN',
  setup:
    'In the group open "Settings", "Bots", add a "Custom Bot" with signature verification (or the keyword "Parallax"), and copy its webhook and its secret into a destination. The target is the key of the destination.',
  settings,
  secrets: ['destinations[].url', 'destinations[].secret'],
  target: destinationTarget('key of a Feishu destination'),
  render,
  send: async (content, { settings, target }, io) => {
    const { url, secret } = destinationOf(settings, target);
    const secrets = [url, ...(secret === undefined ? [] : [secret])];
    const body = secret === undefined ? content : { ...signature(secret, io.now()), ...content };
    const answer = await io.request({ method: 'POST', url, body, secrets });
    // Older answers say `StatusCode` of a success.
    const code = fieldOf(answer, 'code') ?? fieldOf(answer, 'StatusCode');
    if (isAccepted(answer) && code === 0) return {};
    if (isAccepted(answer) && typeof code !== 'number') throw unexpectedAnswer(title);
    throw refusal(answer, {
      title,
      meaning: meaningOf(answer, code),
      detail: fieldOf(answer, 'msg'),
      secrets,
      now: io.now(),
    });
  },
};

/** Time in seconds, and HMAC-SHA256 of nothing under time and secret, in Base64. The service takes it within an hour. */
export function signature(secret: string, now: number) {
  const timestamp = String(Math.floor(now / 1000));
  return { timestamp, sign: createHmac('sha256', `${timestamp}\n${secret}`).digest('base64') };
}

const templates = { critical: 'red', major: 'orange', minor: 'yellow' } as const;

function render(message: Message) {
  const { state, severity } = message;
  const text = layOut(message, plain, 8000, { title: false, links: false }, bytes);
  const buttons = message.links
    .filter(({ purpose }) => purpose !== 'unsubscribe')
    .map(({ label, url, purpose }) => ({
      tag: 'button',
      text: plainText(cut(label, 60)),
      url,
      type: purpose === 'open' ? 'primary' : 'default',
    }));
  return {
    msg_type: 'interactive',
    card: {
      config: { wide_screen_mode: true },
      header: {
        title: plainText(cut(message.title, 200)),
        template: state === 'recovered' ? 'green' : state === 'information' ? 'blue' : templates[severity],
      },
      elements: [
        { tag: 'div', text: plainText(text) },
        ...(buttons.length > 0 ? [{ tag: 'action', actions: buttons }] : []),
        { tag: 'note', elements: [plainText('Parallax')] },
      ],
    },
  };
}

function plainText(content: string) {
  return { tag: 'plain_text', content };
}

// Errors come with status 200 or 400.
function meaningOf(answer: IncomingResponse, code: unknown): Meaning {
  // Signature, address of the sender or keyword do not match.
  if (code === 19_021 || code === 19_022 || code === 19_024) return refusedDestination;
  // The token of the webhook is not one.
  if (code === 19_001) return unknownTarget;
  if (code === 11_232 || code === 11_233) return { ...rateLimited, retryAfterMs: 60_000 };
  if (code === 1500 || code === 10_000) return unavailable;
  return isAccepted(answer) ? refusedMessage : meaningForDestination(answer.status);
}
