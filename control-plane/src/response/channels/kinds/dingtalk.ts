import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Channel, IncomingResponse } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsWith, secretText, webAddress } from '../setting-shapes.ts';
import { bytes } from './shared/cut.ts';
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

const title = 'DingTalk';

const settings = z.strictObject({
  destinations: destinationsWith({
    url: webAddress.describe('Webhook of the robot: https://oapi.dingtalk.com/robot/send?access_token=…'),
    secret: secretText(200)
      .describe(
        'Secret of the robot\'s security setting "additional signature" (SEC…); absent: it is secured otherwise.',
      )
      .optional(),
  }),
});

/**
 * Custom robot of a group: 20 messages a minute, above that nothing for up to ten minutes. Sent as text, since its Markdown has no documented escape.
 * A robot that is secured by a keyword takes only texts that hold it: "Parallax" stands in each.
 */
export const dingtalk: Channel<z.output<typeof settings>, Readonly<Record<string, unknown>>> = {
  name: 'dingtalk',
  title,
  documentation: 'https://open.dingtalk.com/document/robots/custom-robot-access',
  setup:
    'In the DingTalk group open "Group settings", "Bots", add a custom robot with an additional signature (or with the keyword "Parallax"), and copy its webhook and its secret into a destination. The target is the key of the destination.',
  settings,
  secrets: ['destinations[].url', 'destinations[].secret'],
  target: destinationTarget('key of a DingTalk destination'),
  render: (message) => ({
    msgtype: 'text',
    // The body may have 20,000 bytes.
    text: { content: `Parallax · ${layOut(message, plain, 6000, {}, bytes)}` },
    at: { isAtAll: false },
  }),
  send: async (body, { settings, target }, io) => {
    const { url, secret } = destinationOf(settings, target);
    const secrets = [url, ...(secret === undefined ? [] : [secret])];
    const signed = secret === undefined ? url : signedAddress(url, secret, io.now());
    const answer = await io.request({ method: 'POST', url: signed, body, secrets });
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

/** The address with time (ms) and signature: HMAC-SHA256 of both under the secret, in Base64. The service takes it within an hour. */
export function signedAddress(address: string, secret: string, now: number): string {
  const url = new URL(address);
  url.searchParams.set('timestamp', String(now));
  url.searchParams.set('sign', createHmac('sha256', secret).update(`${now}\n${secret}`).digest('base64'));
  return url.href;
}

// No such token (two numbers more in use for it), group dissolved, robot switched off, robot no longer in the group.
const gone = new Set([300_001, 300_005, 400_013, 400_101, 400_102, 400_106]);

// Errors come with status 200.
function meaningOf(answer: IncomingResponse, code: unknown): Meaning {
  if (!isAccepted(answer)) return meaningForDestination(answer.status);
  if (code === -1) return unavailable;
  // Signature, keyword or address of the sender do not match.
  if (code === 310_000) return refusedDestination;
  if (typeof code === 'number' && gone.has(code)) return unknownTarget;
  if (code === 130_101 || code === 410_100) return { ...rateLimited, retryAfterMs: 60_000 };
  return refusedMessage;
}
