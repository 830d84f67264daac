import { z } from 'zod';
import type { Channel } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsWith, secretText } from '../setting-shapes.ts';
import type { Message } from '../../messages/index.ts';
import { actionOf, levelOf } from './shared/alarm.ts';
import { cut } from './shared/cut.ts';
import { fieldOf } from './shared/fields.ts';
import { layOut, plain } from './shared/lay-out.ts';
import { isAccepted, type Meaning, meaningForDestination, refusal, refusedDestination } from './shared/refusal.ts';

const title = 'ilert';

const settings = z.strictObject({
  destinations: destinationsWith({
    integration_key: secretText(200).describe('Integration key of an alert source of the type "API".'),
  }),
});

const events = { open: 'ALERT', acknowledge: 'ACCEPT', close: 'RESOLVE' } as const;

/** Event API. Lengths are not documented; `alertKey` is compared without regard to case and trimmed "if necessary". */
export const ilert: Channel<z.output<typeof settings>, Readonly<Record<string, unknown>>> = {
  name: 'ilert',
  title,
  documentation: 'https://api.ilert.com/api-docs/#tag/Events',
  setup:
    'In ilert open "Alert sources", create one of the type "API" and copy its integration key into a destination. The target is the key of the destination.',
  settings,
  secrets: ['destinations[].integration_key'],
  target: destinationTarget('key of an ilert destination'),
  baseUrl: 'https://api.ilert.com',
  closes: true,
  render,
  send: async (event, { settings, target }, io) => {
    const { integration_key } = destinationOf(settings, target);
    const body = { integrationKey: integration_key, ...event };
    const answer = await io.request({
      method: 'POST',
      url: `${io.baseUrl}/api/events`,
      body,
      secrets: [integration_key],
    });
    if (isAccepted(answer)) return {};
    const detail = fieldOf(answer, 'message');
    throw refusal(answer, {
      title,
      meaning: meaningOf(answer.status, detail),
      detail,
      secrets: [integration_key],
      now: io.now(),
    });
  },
};

function render(message: Message) {
  const level = levelOf(message);
  return {
    eventType: events[actionOf(message)],
    alertKey: message.subjectKey,
    summary: cut(message.title, 255),
    details: layOut(message, plain, 10_000, { title: false, links: false }) || message.title,
    priority: level === 'critical' || level === 'error' ? 'HIGH' : 'LOW',
    links: message.links.map(({ label, url }) => ({ href: url, text: label })),
    labels: { workspace: cut(message.workspace.name, 100), severity: message.severity },
  };
}

// It says 400 of a key that it does not know, as of every event that it does not take.
function meaningOf(status: number, detail: unknown): Meaning {
  if (status === 400 && typeof detail === 'string' && /\b(?:api|integration)\s?key\b/i.test(detail))
    return refusedDestination;
  return meaningForDestination(status);
}
