import { z } from 'zod';
import type { Channel } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsWith, secretText } from '../setting-shapes.ts';
import type { Message } from '../../messages/index.ts';
import { actionOf, levelOf, pageOf, sourceOf } from './shared/alarm.ts';
import { cut } from './shared/cut.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { isAccepted, type Meaning, meaningForDestination, refusal, refusedDestination } from './shared/refusal.ts';

const title = 'PagerDuty';
const us = 'https://events.pagerduty.com';
const eu = 'https://events.eu.pagerduty.com';

const settings = z.strictObject({
  region: z
    .enum(['us', 'eu'])
    .default('us')
    .describe('Where the account is kept: "eu" if its address ends in .eu.pagerduty.com.'),
  destinations: destinationsWith({
    routing_key: secretText(200).describe(
      'Integration key of an "Events API v2" integration of a service or of event orchestration.',
    ),
  }),
});

/** Events API v2: an alert opens with a key, later events of the key belong to it, and it is resolved by the key. */
export const pagerduty: Channel<z.output<typeof settings>, Event> = {
  name: 'pagerduty',
  title,
  documentation: 'https://developer.pagerduty.com/docs/events-api-v2-overview',
  setup:
    'In PagerDuty open the service, its tab "Integrations", and add "Events API V2". Copy the integration key into a destination; the target is the key of that destination.',
  settings,
  secrets: ['destinations[].routing_key'],
  target: destinationTarget('key of a PagerDuty destination'),
  baseUrl: us,
  closes: true,
  render,
  send: async (event, { settings, target }, io) => {
    const { routing_key } = destinationOf(settings, target);
    const host = settings.region === 'eu' && io.baseUrl === us ? eu : io.baseUrl;
    const body = { routing_key, ...event };
    const answer = await io.request({ method: 'POST', url: `${host}/v2/enqueue`, body, secrets: [routing_key] });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'dedup_key'));
    const errors = fieldOf(answer, 'errors');
    const detail = Array.isArray(errors) ? errors.map(String).join('; ') : fieldOf(answer, 'message');
    throw refusal(answer, {
      title,
      meaning: meaningOf(answer.status, detail),
      detail,
      secrets: [routing_key],
      now: io.now(),
    });
  },
};

type Event =
  | { readonly event_action: 'acknowledge' | 'resolve'; readonly dedup_key: string }
  | {
      readonly event_action: 'trigger';
      readonly dedup_key: string;
      readonly client: string;
      readonly client_url: string | undefined;
      readonly links: readonly { readonly href: string; readonly text: string }[];
      readonly payload: Readonly<Record<string, unknown>>;
    };

function render(message: Message): Event {
  const dedup_key = message.subjectKey;
  const action = actionOf(message);
  if (action !== 'open') return { event_action: action === 'close' ? 'resolve' : 'acknowledge', dedup_key };
  return {
    event_action: 'trigger',
    dedup_key,
    client: 'Parallax',
    client_url: pageOf(message),
    links: message.links.map(({ label, url }) => ({ href: url, text: label })),
    payload: {
      summary: cut(message.title, 1024),
      source: sourceOf(message),
      severity: levelOf(message),
      timestamp: message.startedAt ?? message.at,
      group: message.workspace.name,
      class: message.subjects[0]?.type,
      custom_details: {
        summary: message.summary,
        ...Object.fromEntries(message.facts.map(({ label, value }) => [label, value])),
        ...Object.fromEntries(message.sections.map(({ heading, lines }) => [heading, lines.join('\n')])),
      },
    },
  };
}

// A key that no integration has is a bad event to PagerDuty (400), with an error that names the field.
function meaningOf(status: number, detail: unknown): Meaning {
  if (status === 400 && typeof detail === 'string' && /routing[ _]key/i.test(detail)) return refusedDestination;
  return meaningForDestination(status);
}
