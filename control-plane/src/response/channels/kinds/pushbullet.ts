import { z } from 'zod';
import type { Channel, IncomingResponse } from '../channel.ts';
import { secretText } from '../setting-shapes.ts';
import { cut } from './shared/cut.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, plain } from './shared/lay-out.ts';
import { openLink } from './shared/open-link.ts';
import { isAccepted, type Meaning, rateLimited, refusal, secondsToMs, unknownTarget } from './shared/refusal.ts';
import { uuidOf } from './shared/uuid-of.ts';

const service = 'Pushbullet';

const settings = z.strictObject({ access_token: secretText(200).describe('Access token from the account settings.') });
type Settings = z.infer<typeof settings>;

/**
 * Pushbullet by its pushes. The `guid` is made of message and target, so a repetition answers with the push that stands. Lengths have no documented limit;
 * 3,000 characters are what a telephone shows at most.
 */
export const pushbullet: Channel<Settings> = {
  name: 'pushbullet',
  title: service,
  documentation: 'https://docs.pushbullet.com/#create-push',
  setup: 'In Pushbullet open "Settings", "Account", and create an access token. The target "me" is all your devices.',
  settings,
  secrets: ['access_token'],
  target: {
    label: '"me", "device:" and its iden, "channel:" and its tag, or a mail address',
    example: 'me',
    parse: (text) => {
      const target = text.trim();
      if (target.toLowerCase() === 'me') return { ok: true, target: 'me' };
      if (/^(device|channel):[A-Za-z0-9_-]{1,100}$/.test(target)) return { ok: true, target };
      if (z.email().max(254).safeParse(target).success) return { ok: true, target: target.toLowerCase() };
      return { ok: false, problem: 'is "me", "device:…", "channel:…" or a mail address' };
    },
    mask: (target) => target.replace(/^(.).*@/, '$1…@').replace(/^(device:).*(.{4})$/, '$1…$2'),
    reaches: (target, { access_token: token }) => (target === 'me' ? `me ${token}` : target),
  },
  baseUrl: 'https://api.pushbullet.com',
  render: (message, _settings, target) => {
    const url = openLink(message);
    return {
      type: url === undefined ? 'note' : 'link',
      title: cut(message.title, 200),
      body: layOut(message, plain, 3000, { title: false, links: false }),
      ...(url === undefined ? {} : { url }),
      guid: uuidOf(message.id, target),
      ...receiverOf(target),
    };
  },
  send: async (content, { settings }, io) => {
    const { access_token } = settings;
    const answer = await io.request({
      method: 'POST',
      url: `${io.baseUrl}/v2/pushes`,
      headers: { 'access-token': access_token },
      body: content,
      secrets: [access_token],
    });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'iden'));
    const detail = fieldOf(answer, 'error', 'message');
    throw refusal(answer, {
      title: service,
      meaning: meaningOf(answer, io.now()),
      detail,
      secrets: [access_token],
      now: io.now(),
    });
  },
};

function receiverOf(target: string): Readonly<Record<string, string>> {
  if (target === 'me') return {};
  if (target.startsWith('device:')) return { device_iden: target.slice('device:'.length) };
  if (target.startsWith('channel:')) return { channel_tag: target.slice('channel:'.length) };
  return { email: target };
}

/**
 * A 400 names the parameter, or says that the 500 pushes of a month which accounts without Pro have are used up; the end of a rate stands in a header, in seconds since the
 * epoch.
 */
function meaningOf(answer: IncomingResponse, now: number): Meaning | undefined {
  if (answer.status === 429) {
    const reset = Number(answer.headers['x-ratelimit-reset'] ?? Number.NaN);
    return { ...rateLimited, retryAfterMs: secondsToMs(reset - now / 1000) };
  }
  if (fieldOf(answer, 'error', 'code') === 'pushbullet_pro_required') return rateLimited;
  const parameter = fieldOf(answer, 'error', 'param');
  const isTarget = parameter === 'device_iden' || parameter === 'channel_tag' || parameter === 'email';
  return answer.status === 400 && isTarget ? unknownTarget : undefined;
}
