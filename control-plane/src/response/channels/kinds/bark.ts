import { z } from 'zod';
import type { Channel, IncomingResponse } from '../channel.ts';
import { lineText, secretText, webAddress } from '../setting-shapes.ts';
import { basic } from './shared/basic.ts';
import { cut, jsonBytes, type Measure } from './shared/cut.ts';
import { fieldOf } from './shared/fields.ts';
import { layOut, plain } from './shared/lay-out.ts';
import { openLink } from './shared/open-link.ts';
import {
  isAccepted,
  type Meaning,
  notFoundByProxy,
  refusal,
  refusedMessage,
  unexpectedAnswer,
  unknownTarget,
} from './shared/refusal.ts';
import { urgencyOf } from './shared/urgency.ts';

const service = 'Bark';

const settings = z.strictObject({
  server_url: webAddress.default('https://api.day.app').describe('Address of the server.'),
  username: lineText(100)
    .regex(/^[^:]+$/, 'must not contain ":"')
    .optional()
    .describe('User name, where your server asks for one.'),
  password: secretText().optional().describe('Password of that user.'),
});
type Settings = z.infer<typeof settings>;

/** What a text takes of a notification, which the server writes as Go does: `<`, `>` and `&` are six bytes each. */
const inNotification: Measure = (text) => jsonBytes(text) - 2 + 5 * (text.match(/[<>&]/g)?.length ?? 0);
const most = { title: 400, body: 2_400, group: 150, url: 500 } as const;

/**
 * Bark by its API V2. Apple takes notifications of 4,096 bytes with everything the server adds; the group stands in them twice. `id` makes a repetition take the place of the first. Whoever
 * has a device's key can write to it, so keys are masked. Errors were read in bark-server's source (route_push), as the documentation lists only success.
 */
export const bark: Channel<Settings> = {
  name: 'bark',
  title: service,
  documentation: 'https://bark.day.app/#/en-us/tutorial',
  setup:
    'Install Bark on the iPhone and copy the key from the address that it shows: https://api.day.app/KEY/. For a server of your own give its address.',
  settings,
  secrets: ['password'],
  target: {
    label: 'device key',
    example: 'ynJ5Ft4atkMkWeo2PAvFhF',
    parse: (text) => {
      const target = text.trim();
      if (/^[A-Za-z0-9_-]{6,64}$/.test(target)) return { ok: true, target };
      return { ok: false, problem: 'a device key has 6 to 64 letters and digits' };
    },
    mask: (target) => `${target.slice(0, 3)}…`,
    reaches: (target, { server_url: server }) => `${server.replace(/\/+$/, '')} ${target}`,
  },
  render: (message, _settings, target) => {
    const url = openLink(message);
    return {
      device_key: target,
      id: message.id,
      title: cut(message.title, most.title, inNotification),
      body:
        layOut(message, plain, most.body, { title: false, links: false }, inNotification) ||
        cut(message.title, most.body, inNotification),
      group: cut(message.workspace.name, most.group, inNotification),
      level: levels[urgencyOf(message)],
      ...(url === undefined || inNotification(url) > most.url ? {} : { url }),
    };
  },
  send: async (content, { settings, target }, io) => {
    const { server_url, username, password } = settings;
    const authorization = username === undefined ? undefined : basic(username, password ?? '');
    const secrets = [password, authorization, target].filter((secret) => secret !== undefined);
    const answer = await io.request({
      method: 'POST',
      url: `${server_url.replace(/\/+$/, '')}/push`,
      ...(authorization === undefined ? {} : { headers: { authorization } }),
      body: content,
      secrets,
    });
    const code = fieldOf(answer, 'code');
    if (isAccepted(answer) && code === 200) return {};
    if (isAccepted(answer) && typeof code !== 'number') throw unexpectedAnswer(service);
    throw refusal(answer, {
      title: service,
      meaning: meaningOf(answer) ?? notFoundByProxy(answer, typeof fieldOf(answer, 'code') === 'number'),
      detail: fieldOf(answer, 'message'),
      secrets,
      now: io.now(),
    });
  },
};

/** A key that the server does not know is a 400; what Apple refuses is a 500 with Apple's reason. */
function meaningOf(answer: IncomingResponse): Meaning | undefined {
  const words = fieldOf(answer, 'message');
  if (typeof words !== 'string') return undefined;
  if (/device ?token|device key|unregistered/i.test(words)) return unknownTarget;
  if (/payload ?too ?large/i.test(words)) return refusedMessage;
  return isAccepted(answer) ? refusedMessage : undefined;
}

/** How iOS shows it; `critical` sounds through silence where the app may. */
const levels = { loud: 'critical', high: 'timeSensitive', usual: 'active', quiet: 'passive' } as const;
