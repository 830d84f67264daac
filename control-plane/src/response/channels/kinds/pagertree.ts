import { z } from 'zod';
import type { Channel } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsWith, secretText, webAddress } from '../setting-shapes.ts';
import type { Message } from '../../messages/index.ts';
import { actionOf, levelOf, pageOf } from './shared/alarm.ts';
import { cut } from './shared/cut.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, plain } from './shared/lay-out.ts';
import { isAccepted, type Meaning, meaningForDestination, refusal, unknownTarget } from './shared/refusal.ts';

const title = 'PagerTree';

const settings = z.strictObject({
  destinations: destinationsWith({
    url: webAddress.describe('Endpoint of an integration "Webhook": https://api.pagertree.com/integration/int_…'),
    token: secretText(200).describe("The integration's token; absent: it has none.").optional(),
  }),
});

const events = { open: 'create', acknowledge: 'acknowledge', close: 'resolve' } as const;
const urgencies = { critical: 'critical', error: 'high', warning: 'medium', info: 'low' } as const;

/** Incoming webhook. Names of fields are read without regard to case; alerts are one by `dedup_keys`, not by their id. */
export const pagertree: Channel<z.output<typeof settings>, Readonly<Record<string, unknown>>> = {
  name: 'pagertree',
  title,
  documentation: 'https://pagertree.com/docs/integration-guides/webhook',
  setup:
    'In PagerTree open "Integrations", "New Integration", choose "Webhook" and copy its endpoint, and its token where you set one, into a destination. The target is the key of the destination.',
  settings,
  secrets: ['destinations[].url', 'destinations[].token'],
  target: destinationTarget('key of a PagerTree destination'),
  closes: true,
  render,
  send: async (body, { settings, target }, io) => {
    const { url, token } = destinationOf(settings, target);
    const secrets = token === undefined ? [url] : [url, token];
    const headers = token === undefined ? {} : { 'pagertree-token': token };
    const answer = await io.request({ method: 'POST', url, headers, body, secrets });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'id'));
    throw refusal(answer, {
      title,
      meaning: meaningOf(answer.status),
      detail: fieldOf(answer, 'message') ?? fieldOf(answer, 'error'),
      secrets,
      now: io.now(),
    });
  },
};

function render(message: Message) {
  const action = actionOf(message);
  const event = { event_type: events[action], id: message.subjectKey };
  if (action !== 'open') return event;
  return {
    ...event,
    dedup_keys: [message.subjectKey],
    title: cut(message.title, 255),
    description: layOut(message, plain, 20_000, { title: false }) || message.title,
    urgency: urgencies[levelOf(message)],
    tags: ['parallax'],
    meta: { url: pageOf(message), workspace: message.workspace.name },
  };
}

// 405: the integration is switched off.
function meaningOf(status: number): Meaning {
  return status === 405 ? unknownTarget : meaningForDestination(status);
}
