import { z } from 'zod';
import type { Channel } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsWith, secretText } from '../setting-shapes.ts';
import type { Message } from '../../messages/index.ts';
import { actionOf, levelOf } from './shared/alarm.ts';
import { cut } from './shared/cut.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, plain } from './shared/lay-out.ts';
import { isAccepted, meaningForDestination, refusal } from './shared/refusal.ts';

const title = 'SIGNL4';

const settings = z.strictObject({
  destinations: destinationsWith({
    team_secret: secretText(200).describe(
      'Team or integration secret: the last part of https://connect.signl4.com/webhook/…',
    ),
  }),
});

const statuses = { open: 'new', acknowledge: 'acknowledged', close: 'resolved' } as const;

/** Inbound webhook. What its refusals say beyond their status could not be read. */
export const signl4: Channel<z.output<typeof settings>, Readonly<Record<string, unknown>>> = {
  name: 'signl4',
  title,
  documentation: 'https://docs.signl4.com/integrations/webhook/webhook.html',
  setup:
    'In SIGNL4 open "Teams" or "Integrations", "Webhook", and copy the secret into a destination. The target is the key of the destination.',
  settings,
  secrets: ['destinations[].team_secret'],
  target: destinationTarget('key of a SIGNL4 destination'),
  baseUrl: 'https://connect.signl4.com',
  closes: true,
  render,
  send: async (body, { settings, target }, io) => {
    const { team_secret } = destinationOf(settings, target);
    const url = `${io.baseUrl}/webhook/${encodeURIComponent(team_secret)}`;
    const answer = await io.request({ method: 'POST', url, body, secrets: [team_secret] });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'eventId'));
    throw refusal(answer, {
      title,
      meaning: meaningForDestination(answer.status),
      detail: fieldOf(answer, 'message'),
      secrets: [team_secret],
      now: io.now(),
    });
  },
};

function render(message: Message) {
  return {
    Title: cut(message.title, 255),
    Message: layOut(message, plain, 5000, { title: false }) || message.title,
    Severity: levelOf(message),
    'X-S4-ExternalID': message.subjectKey,
    'X-S4-Status': statuses[actionOf(message)],
    'X-S4-SourceSystem': 'Parallax',
    // Filters of a team would drop what they do not know, an end as well.
    'X-S4-Filtering': false,
  };
}
