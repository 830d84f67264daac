import { z } from 'zod';
import type { Channel } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsWith, secretText, webAddress } from '../setting-shapes.ts';
import type { Message } from '../../messages/index.ts';
import { escapeMarkdown, markdownUrl } from '../../messages/index.ts';
import { actionOf, levelOf, sourceOf } from './shared/alarm.ts';
import { cut } from './shared/cut.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, type Markup } from './shared/lay-out.ts';
import { isAccepted, meaningForDestination, refusal } from './shared/refusal.ts';

const title = 'GitLab';

const settings = z.strictObject({
  destinations: destinationsWith({
    url: webAddress.describe('Webhook URL of the alerting integration, from its tab "View credentials".'),
    authorization_key: secretText(200).describe('Authorization key of the alerting integration, from the same tab.'),
  }),
});

const severities = { critical: 'critical', error: 'high', warning: 'medium', info: 'info' } as const;

/** Alerting endpoint of a project. Alerts go by their fingerprint; one with `end_time` resolves the alert that is open. A severity it does not know is critical to it. */
export const gitlabAlert: Channel<z.output<typeof settings>, Readonly<Record<string, unknown>>> = {
  name: 'gitlab-alert',
  title,
  documentation: 'https://docs.gitlab.com/operations/incident_management/integrations/',
  setup:
    'In the GitLab project open "Settings", "Monitor", "Alerts", add an integration "HTTP Endpoint" and copy URL and authorization key into a destination. The target is the key of the destination.',
  settings,
  secrets: ['destinations[].url', 'destinations[].authorization_key'],
  target: destinationTarget('key of a GitLab destination'),
  closes: true,
  render,
  send: async (body, { settings, target }, io) => {
    const { url, authorization_key } = destinationOf(settings, target);
    const secrets = [authorization_key];
    const headers = { authorization: `Bearer ${authorization_key}` };
    const answer = await io.request({ method: 'POST', url, headers, body, secrets });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 0, 'iid'));
    throw refusal(answer, {
      title,
      meaning: meaningForDestination(answer.status),
      detail: fieldOf(answer, 'message'),
      secrets,
      now: io.now(),
    });
  },
};

// Descriptions are GitLab Flavored Markdown; `escapeMarkdown` leaves no mention and no quick action.
const markup: Markup = {
  escape: escapeMarkdown,
  title: (text) => `**${escapeMarkdown(text)}**`,
  heading: (text) => `\n**${escapeMarkdown(text)}**\n`,
  fact: (label, value) => `- **${escapeMarkdown(label)}**: ${escapeMarkdown(value)}`,
  link: ({ label, url }) => `- [${escapeMarkdown(label)}](${markdownUrl(url)})`,
};

// It knows no acknowledgement from outside; one more alert of a fingerprint counts up the one that is open.
function render(message: Message) {
  const isOver = actionOf(message) === 'close';
  return {
    title: cut(message.title, 200),
    description: layOut(message, markup, 1000, { title: false }) || escapeMarkdown(message.title),
    start_time: message.startedAt ?? message.at,
    ...(isOver ? { end_time: message.endedAt ?? message.at } : {}),
    service: cut(sourceOf(message), 100),
    monitoring_tool: 'Parallax',
    hosts: message.subjects.map(({ name }) => cut(name, 100)).slice(0, 10),
    severity: severities[levelOf(message)],
    fingerprint: message.subjectKey,
  };
}
