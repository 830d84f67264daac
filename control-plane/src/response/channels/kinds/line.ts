import { z } from 'zod';
import type { Channel, IncomingResponse } from '../channel.ts';
import { secretText } from '../setting-shapes.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, plain } from './shared/lay-out.ts';
import { isAccepted, type Meaning, refusal, unknownTarget } from './shared/refusal.ts';
import { uuidOf } from './shared/uuid-of.ts';

const service = 'LINE';

const settings = z.strictObject({
  channel_access_token: secretText(1000).describe('Long-lived channel access token of the Messaging API channel.'),
});
type Settings = z.infer<typeof settings>;

/**
 * LINE by the Messaging API's push messages. The retry key is made of the message and its target, so LINE takes a repetition for one within 24 hours and
 * answers 409, which is a success. A text has at most 5,000 UTF-16 units. People who block the account are not told to anybody: LINE answers 200.
 */
export const line: Channel<Settings> = {
  name: 'line',
  title: service,
  documentation: 'https://developers.line.biz/en/reference/messaging-api/#send-push-message',
  setup:
    'Make a Messaging API channel at developers.line.biz, issue a long-lived channel access token, and let people add the official account as a friend. Ids of users and groups ' +
    'come with its webhook events; your own stands in the channel\'s "Basic settings".',
  settings,
  secrets: ['channel_access_token'],
  target: {
    label: 'id of a user (U…), group (C…) or room (R…)',
    example: 'U4af4980629aabbccddeeff0011223344',
    parse: (text) => {
      const target = text.trim();
      if (/^[UCR][0-9a-f]{32}$/.test(target)) return { ok: true, target };
      return {
        ok: false,
        problem: 'an id is U, C or R and 32 hexadecimal digits; it is not the LINE ID by which people find each other',
      };
    },
    mask: (target) => `${target.slice(0, 1)}…${target.slice(-4)}`,
    reaches: (target) => target,
  },
  baseUrl: 'https://api.line.me',
  render: (message, _settings, target) => ({
    to: target,
    messages: [{ type: 'text', text: layOut(message, plain, 4900) }],
  }),
  send: async (content, { settings, target, message }, io) => {
    const { channel_access_token } = settings;
    const answer = await io.request({
      method: 'POST',
      url: `${io.baseUrl}/v2/bot/message/push`,
      headers: {
        authorization: `Bearer ${channel_access_token}`,
        'x-line-retry-key': uuidOf(message.id, target),
      },
      body: content,
      secrets: [channel_access_token],
    });
    if (isAccepted(answer) || answer.status === 409) return referenceOf(fieldOf(answer, 'sentMessages', 0, 'id'));
    const detail = fieldOf(answer, 'message');
    throw refusal(answer, {
      title: service,
      meaning: meaningOf(answer),
      detail,
      secrets: [channel_access_token],
      now: io.now(),
    });
  },
};

/** "The property, 'to', in the request body is invalid", and what is said of ids of other channels and of groups that were left. */
function meaningOf(answer: IncomingResponse): Meaning | undefined {
  const words = fieldOf(answer, 'message');
  const isTarget = typeof words === 'string' && /property, '?to'?,|failed to send messages|not found/i.test(words);
  return answer.status === 400 && isTarget ? unknownTarget : undefined;
}
