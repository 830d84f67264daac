import { z } from 'zod';
import type { Channel } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsWith, webAddress } from '../setting-shapes.ts';
import type { Message } from '../../messages/index.ts';
import { actionOf, levelOf } from './shared/alarm.ts';
import { bytes, cut } from './shared/cut.ts';
import { fieldOf } from './shared/fields.ts';
import { layOut, plain } from './shared/lay-out.ts';
import { isAccepted, meaningForDestination, refusal } from './shared/refusal.ts';

const title = 'Squadcast';

const settings = z.strictObject({
  destinations: destinationsWith({
    url: webAddress.describe('Address of the alert source "Incident Webhook" of a service.'),
  }),
});

const priorities = { critical: 'P1', error: 'P2', warning: 'P3', info: 'P5' } as const;

/**
 * Incident webhook (now SolarWinds Incident Response). The whole body may have 30 kB, above that it answers 413. How it renders the description could not
 * be read; it is sent as plain text.
 */
export const squadcast: Channel<z.output<typeof settings>, Readonly<Record<string, unknown>>> = {
  name: 'squadcast',
  title,
  documentation: 'https://developers.squadcast.com/incoming-webhooks/payload-format/',
  setup:
    'In Squadcast open "Services", the service, "Alert Sources", choose "Incident Webhook" and copy its address into a destination. The target is the key of the destination.',
  settings,
  secrets: ['destinations[].url'],
  target: destinationTarget('key of a Squadcast destination'),
  closes: true,
  render,
  send: async (body, { settings, target }, io) => {
    const { url } = destinationOf(settings, target);
    const answer = await io.request({ method: 'POST', url, body, secrets: [url] });
    if (isAccepted(answer)) return {};
    throw refusal(answer, {
      title,
      meaning: meaningForDestination(answer.status),
      detail: fieldOf(answer, 'meta', 'error_message') ?? fieldOf(answer, 'message'),
      secrets: [url],
      now: io.now(),
    });
  },
};

// It knows no acknowledgement from outside; a second "trigger" of an event counts as a repetition of the incident that is open.
function render(message: Message) {
  if (actionOf(message) === 'close') return { status: 'resolve', event_id: message.subjectKey };
  return {
    status: 'trigger',
    event_id: message.subjectKey,
    message: cut(message.title, 500),
    // Control characters aside, JSON makes at most two bytes of one; so all of it stays below 30 kB.
    description: layOut(message, plain, 12_000, { title: false }, bytes) || message.title,
    priority: priorities[levelOf(message)],
    tags: { severity: message.severity, workspace: cut(message.workspace.name, 100) },
  };
}
