import { z } from 'zod';
import type { Message } from '../../messages/index.ts';
import type { Channel, IncomingResponse } from '../channel.ts';
import { lineText, secretText, webAddress } from '../setting-shapes.ts';
import { basic } from './shared/basic.ts';
import { cut, jsonBytes, type Measure } from './shared/cut.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, plain } from './shared/lay-out.ts';
import { openLink } from './shared/open-link.ts';
import {
  isAccepted,
  type Meaning,
  notFoundByProxy,
  refusal,
  refusedDestination,
  unknownTarget,
} from './shared/refusal.ts';
import { urgencyOf } from './shared/urgency.ts';

const service = 'ntfy';

const settings = z.strictObject({
  server_url: webAddress.default('https://ntfy.sh').describe('Address of the server.'),
  access_token: secretText(200).optional().describe('Access token, where topics are protected.'),
  username: lineText(100)
    .regex(/^[^:]+$/, 'must not contain ":"')
    .optional()
    .describe('User name, instead of a token.'),
  password: secretText().optional().describe('Password of that user.'),
});
type Settings = z.infer<typeof settings>;

/**
 * What a text takes in JSON. A server refuses a body that is longer than twice its limit of messages (error 41303), 8,192 bytes as servers are set up, and in JSON
 * quotation marks, backslashes and line breaks count twice.
 */
const inJson: Measure = (text) => jsonBytes(text) - 2;
const most = { title: 250, message: 3_800, label: 100, url: 500, click: 1_000 } as const;

/**
 * ntfy by JSON. A message may have 4,096 bytes, beyond which it becomes an attached file, and three actions. Who knows a topic reads it, so topics are masked.
 * A server does not know repetitions.
 */
export const ntfy: Channel<Settings> = {
  name: 'ntfy',
  title: service,
  documentation: 'https://docs.ntfy.sh/publish/#publish-as-json',
  setup:
    'Subscribe to a topic in the ntfy app, with a name that nobody guesses, and use it as the target. For a server of your own give its address, and an access token where topics ' +
    'are protected.',
  settings,
  secrets: ['access_token', 'password'],
  target: {
    label: 'topic',
    example: 'shop-alerts-8c1f2a',
    parse: (text) => {
      const target = text.trim();
      if (/^[-_A-Za-z0-9]{1,64}$/.test(target)) return { ok: true, target };
      return { ok: false, problem: 'a topic has 1 to 64 letters, digits, "-" and "_"' };
    },
    mask: (target) => `${target.slice(0, 3)}…`,
    reaches: (target, { server_url: server }) => `${server.replace(/\/+$/, '')} ${target}`,
  },
  render: (message, _settings, target) => {
    const click = openLink(message, most.click);
    const links = message.links.filter(({ url }) => inJson(url) <= most.url).slice(0, 3);
    return {
      topic: target,
      title: cut(message.title, most.title, inJson),
      message: layOut(message, plain, most.message, { title: false, links: false }, inJson) || message.title,
      priority: priorities[urgencyOf(message)],
      tags: [tagOf(message)],
      ...(click === undefined ? {} : { click }),
      actions: links.map(({ label, url }) => ({ action: 'view', label: cut(label, most.label, inJson), url })),
    };
  },
  send: async (content, { settings, target }, io) => {
    const { server_url } = settings;
    const authorization = authorizationOf(settings);
    const secrets = [settings.access_token, settings.password, authorization].filter((secret) => secret !== undefined);
    const answer = await io.request({
      method: 'POST',
      url: server_url,
      ...(authorization === undefined ? {} : { headers: { authorization } }),
      body: content,
      secrets: [...secrets, target],
    });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'id'));
    const detail = fieldOf(answer, 'error');
    throw refusal(answer, {
      title: service,
      meaning: meaningOf(answer) ?? notFoundByProxy(answer, typeof fieldOf(answer, 'code') === 'number'),
      detail,
      secrets: [...secrets, target],
      now: io.now(),
    });
  },
};

function authorizationOf({ access_token, username, password }: Settings): string | undefined {
  if (access_token !== undefined) return `Bearer ${access_token}`;
  return username === undefined ? undefined : basic(username, password ?? '');
}

/** 1 to 5: 4 and 5 sound and vibrate for longer, 2 does not sound. */
const priorities = { loud: 5, high: 4, usual: 3, quiet: 2 } as const;

/** Short names of emoji, which ntfy shows before the title. */
function tagOf({ state, severity }: Message): string {
  if (state === 'recovered') return 'white_check_mark';
  if (state === 'information') return 'information_source';
  return severity === 'critical' ? 'rotating_light' : 'warning';
}

/** Errors have numbers: the first three digits are the status. A 403 is about one topic, a 401 about the account. */
function meaningOf(answer: IncomingResponse): Meaning | undefined {
  if (answer.status === 403) return refusedDestination;
  const code = fieldOf(answer, 'code');
  return code === 40_009 || code === 40_010 ? unknownTarget : undefined;
}
