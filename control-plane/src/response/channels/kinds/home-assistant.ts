import { z } from 'zod';
import type { Channel, OutgoingRequest } from '../channel.ts';
import { secretText, webAddress } from '../setting-shapes.ts';
import { DeliveryError } from '../delivery-error.ts';
import type { Message } from '../../messages/index.ts';
import { levelOf, pageOf } from './shared/alarm.ts';
import { cut } from './shared/cut.ts';
import { fieldOf } from './shared/fields.ts';
import { layOut, type Markup, plain } from './shared/lay-out.ts';
import { isAccepted, notFoundByProxy, refusal } from './shared/refusal.ts';

const title = 'Home Assistant';

const settings = z
  .strictObject({
    url: webAddress.describe('Address of the installation: https://home.example.com:8123'),
    token: secretText(1000).describe('Long-lived access token, for targets of the form "notify.…".').optional(),
    webhook_id: z
      .string()
      .trim()
      .regex(/^[A-Za-z0-9_-]{8,200}$/, 'letters, digits, "-" and "_"')
      .describe('Id of a webhook trigger of an automation, for the target "webhook".')
      .optional(),
  })
  .refine(
    ({ token, webhook_id }) => token !== undefined || webhook_id !== undefined,
    'a token or a webhook id is needed',
  );
type Settings = z.output<typeof settings>;

type Content = {
  readonly notify: Readonly<Record<string, unknown>>;
  readonly event: Readonly<Record<string, unknown>>;
};

/**
 * A notify action through the REST API, or the webhook trigger of an automation. Of a webhook that nothing listens to, or only to its own
 * network, Home Assistant answers 200 as well; of an action that it does not have, 400, as of data that the action does not take.
 */
export const homeAssistant: Channel<Settings, Content> = {
  name: 'home-assistant',
  title,
  documentation: 'https://developers.home-assistant.io/docs/api/rest/',
  setup:
    'In Home Assistant open your profile, "Security", and create a long-lived access token; the target is a notify action such as "notify.mobile_app_phone". Instead, an automation with a webhook trigger may take the facts: save its id, let the trigger be reached from other networks than the local one, and use the target "webhook". The installation must be reachable from Parallax.',
  settings,
  secrets: ['token', 'webhook_id'],
  target: {
    label: 'notify action, or "webhook"',
    example: 'notify.mobile_app_phone',
    parse: (text, { token, webhook_id }) => {
      const target = text.trim().toLowerCase();
      if (target === 'webhook') {
        return webhook_id === undefined
          ? { ok: false, problem: 'the configuration has no webhook id' }
          : { ok: true, target };
      }
      if (!/^notify\.[a-z0-9_]{1,100}$/.test(target))
        return { ok: false, problem: '"notify." and the name of an action' };
      return token === undefined ? { ok: false, problem: 'the configuration has no token' } : { ok: true, target };
    },
    mask: (target) => target,
    reaches: (target, { url, webhook_id: webhookId }) =>
      `${url.replace(/\/+$/, '')} ${target === 'webhook' ? `webhook ${webhookId}` : target}`,
  },
  // An action is answered when it was done, or after 10 seconds ("POST /api/services/<domain>/<service>"): whoever hangs up before tells it twice.
  timeoutMs: 20_000,
  render,
  send: async (content, { settings, target }, io) => {
    const secrets = [settings.token, settings.webhook_id].filter((secret) => secret !== undefined);
    const answer = await io.request({ ...requestTo(target, settings, content), secrets });
    if (isAccepted(answer)) return {};
    // Its paths are not there while it starts, nor while a proxy before it finds it not.
    const meaning = notFoundByProxy(answer, false);
    throw refusal(answer, { title, meaning, detail: fieldOf(answer, 'message'), secrets, now: io.now() });
  },
};

function requestTo(target: string, { url: address, token, webhook_id }: Settings, content: Content): OutgoingRequest {
  const url = address.replace(/\/+$/, '');
  if (target === 'webhook' && webhook_id !== undefined) {
    return { method: 'POST', url: `${url}/api/webhook/${webhook_id}`, body: content.event };
  }
  if (target !== 'webhook' && token !== undefined) {
    const { data, ...body } = content.notify;
    return {
      method: 'POST',
      url: `${url}/api/services/${target.replace('.', '/')}`,
      headers: { authorization: `Bearer ${token}` },
      // Only the app is known to take these.
      body: target.startsWith('notify.mobile_app_') ? { ...body, data } : body,
    };
  }
  throw new DeliveryError(
    'not_configured',
    'target',
    `The configuration of ${title} has nothing to reach "${target}" with.`,
  );
}

function render(message: Message): Content {
  const page = pageOf(message);
  const isUrgent = levelOf(message) === 'critical' && message.state === 'problem';
  return {
    notify: {
      title: withoutTemplates(cut(message.title, 200)),
      message: layOut(message, markup, 2000, { title: false, links: false }) || withoutTemplates(message.title),
      data: {
        // A later notification with the tag takes the place of the earlier one.
        tag: message.subjectKey,
        group: 'parallax',
        ...(page === undefined ? {} : { url: page, clickAction: page }),
        ...(isUrgent ? { ttl: 0, priority: 'high', push: { 'interruption-level': 'time-sensitive' } } : {}),
      },
    },
    event: {
      id: message.id,
      subject: message.subjectKey,
      kind: message.kind,
      state: message.state,
      severity: message.severity,
      title: message.title,
      summary: message.summary,
      url: page ?? null,
      at: message.at,
    },
  };
}

/** Title and message of notify actions are Jinja templates, which read everything in the house: what opens one is broken. */
export function withoutTemplates(text: string): string {
  return text.replaceAll(/\{(?=[{%#])/g, '{\u200b');
}

const markup: Markup = {
  ...plain,
  escape: withoutTemplates,
  title: withoutTemplates,
  heading: (text) => `${withoutTemplates(text)}:`,
  fact: (label, value) => `${withoutTemplates(label)}: ${withoutTemplates(value)}`,
};
