import { z } from 'zod';
import type { Message } from '../../messages/index.ts';
import type { Channel, ChannelIo, IncomingResponse } from '../channel.ts';
import { DeliveryError } from '../delivery-error.ts';
import { cut } from './shared/cut.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, plain } from './shared/lay-out.ts';
import { openLink } from './shared/open-link.ts';
import {
  isAccepted,
  type Meaning,
  rateLimited,
  refusal,
  refusedCredentials,
  secondsToMs,
  unknownTarget,
} from './shared/refusal.ts';
import { urgencyOf } from './shared/urgency.ts';

const service = 'Pushover';

const settings = z.strictObject({
  api_token: z
    .string()
    .regex(/^[A-Za-z0-9]{30}$/, 'must be 30 letters and digits')
    .describe('API token of your Pushover application.'),
  emergency: z
    .boolean()
    .default(false)
    .describe(
      'Whether critical problems are repeated every minute for an hour until somebody confirms them on a device.',
    ),
});
type Settings = z.infer<typeof settings>;

type Content = {
  readonly form: Readonly<Record<string, string>>;
  /** Alarms of this tag that still repeat are ended first. */
  readonly ends: string | null;
};

/**
 * Pushover by its Message API: messages of 1,024 characters, titles of 250, addresses of 512. An emergency leaves a receipt and repeats on its own; it carries the
 * subject's key as a tag, by which it is ended when the problem is over or acknowledged here. Other messages have no key for repetitions.
 */
export const pushover: Channel<Settings, Content> = {
  name: 'pushover',
  title: service,
  documentation: 'https://pushover.net/api',
  setup:
    'Make an application at pushover.net and copy its API token. The target is the user key or group key on the dashboard, with ":" and a device behind it for one device.',
  settings,
  secrets: ['api_token'],
  target: {
    label: 'user key or group key, and ":device" for one device',
    example: 'uQiRzpo4DXghDmr9QzzfQu27cmVRsG',
    parse: (text) => {
      const target = text.trim();
      if (/^[A-Za-z0-9]{30}(:[A-Za-z0-9_-]{1,25})?$/.test(target)) return { ok: true, target };
      return {
        ok: false,
        problem: 'a key has 30 letters and digits, a device name at most 25 of letters, digits, "_" and "-"',
      };
    },
    mask: (target) => `${target.slice(0, 2)}…${target.slice(30)}`,
    // Keys are those of people and groups, whichever application writes.
    reaches: (target) => target,
  },
  baseUrl: 'https://api.pushover.net',
  closes: true,
  render: (message, { emergency }, target) => {
    const [user = '', device] = target.split(':');
    const url = openLink(message, 512);
    const form = {
      user,
      ...(device === undefined ? {} : { device }),
      title: cut(message.title, 250),
      message: layOut(message, plain, 1024, { title: false, links: false }) || message.title,
      timestamp: String(Math.floor(Date.parse(message.at) / 1000)),
      ...(url === undefined
        ? {}
        : { url, url_title: cut(message.links.find((link) => link.url === url)?.label ?? '', 100) }),
      ...priorityOf(message, emergency),
    };
    const isOver = message.state === 'recovered' || message.kind === 'resolved' || message.kind === 'acknowledged';
    return { form, ends: emergency && isOver ? message.subjectKey : null };
  },
  send: async ({ form, ends }, { settings }, io) => {
    const { api_token } = settings;
    if (ends !== null) await endAlarms(io, ends, api_token);
    const answer = await post(io, '/1/messages.json', form, api_token);
    return referenceOf(fieldOf(answer, 'receipt') ?? fieldOf(answer, 'request'));
  },
};

/** That there is nothing to end, or nothing more to say of it, does not keep the message back. */
async function endAlarms(io: ChannelIo, tag: string, token: string): Promise<void> {
  try {
    await post(io, `/1/receipts/cancel_by_tag/${encodeURIComponent(tag)}.json`, {}, token);
  } catch (error) {
    const isNothing = error instanceof DeliveryError && (error.fault === 'message' || error.fault === 'target');
    if (!isNothing) throw error;
  }
}

async function post(io: ChannelIo, path: string, form: Readonly<Record<string, string>>, token: string) {
  const body = new URLSearchParams({ token, ...form });
  const answer = await io.request({ method: 'POST', url: `${io.baseUrl}${path}`, body, secrets: [token] });
  if (isAccepted(answer) && fieldOf(answer, 'status') !== 0) return answer;
  const detail = fieldOf(answer, 'errors', 0);
  throw refusal(answer, {
    title: service,
    meaning: meaningOf(answer, io.now()),
    detail,
    secrets: [token],
    now: io.now(),
  });
}

/** -2 to 2: 1 passes quiet hours, 2 repeats until it is confirmed. Tags are for emergencies only. */
function priorityOf(message: Message, emergency: boolean): Readonly<Record<string, string>> {
  const urgency = urgencyOf(message);
  if (urgency !== 'loud' || !emergency) return { priority: priorities[urgency] };
  return { priority: '2', retry: '60', expire: '3600', tags: message.subjectKey };
}

const priorities = { loud: '1', high: '1', usual: '0', quiet: '-1' } as const;

/** A 400 names the parameter that is wrong; a 429 is the month's limit of the application, whose end a header tells in seconds since the epoch. */
function meaningOf(answer: IncomingResponse, now: number): Meaning | undefined {
  if (answer.status === 429) {
    const reset = Number(answer.headers['x-limit-app-reset'] ?? Number.NaN);
    const wait = secondsToMs(reset - now / 1000);
    return wait === undefined ? rateLimited : { ...rateLimited, retryAfterMs: wait };
  }
  if (fieldOf(answer, 'token') === 'invalid') return refusedCredentials;
  if (fieldOf(answer, 'user') !== undefined || fieldOf(answer, 'device') !== undefined) return unknownTarget;
  return undefined;
}
