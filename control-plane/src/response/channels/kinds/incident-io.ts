import { z } from 'zod';
import type { Channel, IncomingResponse } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { retryAfterMs } from '../retry-after.ts';
import { destinationsWith, secretText } from '../setting-shapes.ts';
import type { Message } from '../../messages/index.ts';
import { escapeMarkdown, markdownUrl } from '../../messages/index.ts';
import { actionOf, levelOf, pageOf } from './shared/alarm.ts';
import { cut } from './shared/cut.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, type Markup } from './shared/lay-out.ts';
import { isAccepted, type Meaning, meaningForDestination, rateLimited, refusal } from './shared/refusal.ts';

const title = 'incident.io';

const settings = z.strictObject({
  destinations: destinationsWith({
    alert_source_config_id: z
      .string()
      .trim()
      .regex(/^[A-Za-z0-9]{10,60}$/, 'the last part of the address of the alert source')
      .describe('Last part of the address of the HTTP alert source.'),
    token: secretText(500).describe(
      'What stands behind "Bearer" in the Authorization header of the HTTP alert source.',
    ),
  }),
});

/** Alert events of an HTTP source. Lengths are not documented. */
export const incidentIo: Channel<z.output<typeof settings>, Readonly<Record<string, unknown>>> = {
  name: 'incident-io',
  title,
  documentation: 'https://api-docs.incident.io/tag/Alert-Events-V2',
  setup:
    'In incident.io open "Alerts", "Sources", create one of the type "HTTP" with the default format, and copy the last part of its address and its token into a destination. The target is the key of the destination.',
  settings,
  secrets: ['destinations[].token'],
  target: destinationTarget('key of an incident.io destination'),
  baseUrl: 'https://api.incident.io',
  closes: true,
  render,
  send: async (body, { settings, target }, io) => {
    const { alert_source_config_id, token } = destinationOf(settings, target);
    const answer = await io.request({
      method: 'POST',
      url: `${io.baseUrl}/v2/alert_events/http/${alert_source_config_id}`,
      headers: { authorization: `Bearer ${token}` },
      body,
      secrets: [token],
    });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'deduplication_key'));
    throw refusal(answer, {
      title,
      meaning: meaningOf(answer, io.now()),
      detail: fieldOf(answer, 'errors', 0, 'message') ?? fieldOf(answer, 'message'),
      secrets: [token],
      now: io.now(),
    });
  },
};

// The description is Markdown.
const markup: Markup = {
  escape: escapeMarkdown,
  title: (text) => `**${escapeMarkdown(text)}**`,
  heading: (text) => `\n**${escapeMarkdown(text)}**\n`,
  fact: (label, value) => `- **${escapeMarkdown(label)}**: ${escapeMarkdown(value)}`,
  link: ({ label, url }) => `- [${escapeMarkdown(label)}](${markdownUrl(url)})`,
};

// There is no acknowledgement from outside: such a message says once more that it fires, which opens no second alert.
function render(message: Message) {
  return {
    title: cut(message.title, 200),
    status: actionOf(message) === 'close' ? 'resolved' : 'firing',
    deduplication_key: message.subjectKey,
    description: layOut(message, markup, 10_000, { title: false }) || escapeMarkdown(message.title),
    source_url: pageOf(message),
    metadata: { level: levelOf(message), workspace: message.workspace.name, subjects: message.subjects },
  };
}

/** It says in the body until when it takes no more. */
function meaningOf(answer: IncomingResponse, now: number): Meaning {
  if (answer.status !== 429) return meaningForDestination(answer.status);
  const until = fieldOf(answer, 'rate_limit', 'retry_after');
  return {
    ...rateLimited,
    retryAfterMs: typeof until === 'string' ? retryAfterMs({ 'retry-after': until }, now) : undefined,
  };
}
