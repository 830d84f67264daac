import { z } from 'zod';
import type { Channel } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsWith, webAddress } from '../setting-shapes.ts';
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
  }),
});

const events = { open: 'create', acknowledge: 'acknowledge', close: 'resolve' } as const;
const urgencies = { critical: 'critical', error: 'high', warning: 'medium', info: 'low' } as const;

/** Incoming webhook. Its own reference of fields could not be read; names and statuses are those that other senders use. */
export const pagertree: Channel<z.output<typeof settings>, Readonly<Record<string, unknown>>> = {
  name: 'pagertree',
  title,
  documentation: 'https://pagertree.com/docs/integration-guides/webhook',
  setup:
    'In PagerTree open "Integrations", "New Integration", choose "Webhook" and copy its endpoint into a destination. The target is the key of the destination.',
  settings,
  secrets: ['destinations[].url'],
  target: destinationTarget('key of a PagerTree destination'),
  closes: true,
  render,
  send: async (body, { settings, target }, io) => {
    const { url } = destinationOf(settings, target);
    const answer = await io.request({ method: 'POST', url, body, secrets: [url] });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'id'));
    throw refusal(answer, {
      title,
      meaning: meaningOf(answer.status),
      detail: fieldOf(answer, 'message') ?? fieldOf(answer, 'error'),
      secrets: [url],
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
