import { z } from 'zod';
import { escapeMarkdown } from '../../messages/index.ts';
import type { Channel, IncomingResponse } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsOf, webAddress } from '../setting-shapes.ts';
import { fieldOf } from './shared/fields.ts';
import { colourOf } from './shared/colour.ts';
import { cut, type Measure } from './shared/cut.ts';
import { layOut } from './shared/lay-out.ts';
import { markdown } from './shared/markdown.ts';
import { openLink } from './shared/open-link.ts';
import {
  isAccepted,
  type Meaning,
  meaningForDestination,
  notFoundByProxy,
  refusal,
  refusedDestination,
  refusedMessage,
  unknownTarget,
} from './shared/refusal.ts';

const service = 'Mattermost';
const settings = z.strictObject({ destinations: destinationsOf(webAddress) });
type Settings = z.infer<typeof settings>;

/** As long as it stands in the JSON that Mattermost measures. */
const inJson: Measure = (text) => JSON.stringify(text).length - 2;
const escaped: Measure = (text) => inJson(escapeMarkdown(text));
/** Shown as it is, where a mention would still be one. */
const unmentioned = (text: string) => text.replaceAll('@', '@\u200b');

/**
 * Mattermost by an incoming webhook: one message attachment. Attachments of older servers hold 7,900 characters of JSON (their error says so; the
 * documentation names no number), so all of it stays below. There is no key for repetitions. Mentions work in attachments, so they are broken.
 */
export const mattermost: Channel<Settings> = {
  name: 'mattermost',
  title: service,
  documentation: 'https://developers.mattermost.com/integrate/webhooks/incoming/',
  setup:
    'In Mattermost open "Integrations", "Incoming Webhooks", "Add Incoming Webhook", choose the channel and lock the webhook to it, then copy its ' +
    'URL into a destination.',
  settings,
  secrets: ['destinations[].url'],
  target: destinationTarget('key of a Mattermost destination'),
  render: (message) => {
    const link = openLink(message, 1000);
    return {
      attachments: [
        {
          // Shown in notifications.
          fallback: unmentioned(cut(message.title, 200)),
          color: `#${colourOf(message)}`,
          title: escapeMarkdown(cut(message.title, 300, escaped)),
          ...(link === undefined ? {} : { title_link: link }),
          text: layOut(message, markdown, 5200, { title: false }, inJson),
        },
      ],
    };
  },
  send: async (content, { settings, target }, io) => {
    const { url } = destinationOf(settings, target);
    const answer = await io.request({ method: 'POST', url, body: content, secrets: [url] });
    if (isAccepted(answer)) return {};
    throw refusal(answer, {
      title: service,
      secrets: [url],
      now: io.now(),
      meaning:
        meaningOf(answer) ??
        notFoundByProxy(answer, typeof fieldOf(answer, 'id') === 'string') ??
        meaningForDestination(answer.status),
      detail: fieldOf(answer, 'message'),
    });
  },
};

// Mattermost answers a deleted webhook with 400 (as an old 4.x did with 500) and tells what it is by the id of its error.
const goneIds = new Set(
  ['invalid', 'disabled', 'channel', 'channel_locked', 'user'].map((name) => `web.incoming_webhook.${name}.app_error`),
);

/** What the id of Mattermost's error says of the webhook. */
export function meaningOf(answer: IncomingResponse): Meaning | undefined {
  const id = fieldOf(answer, 'id');
  if (typeof id !== 'string') return undefined;
  if (goneIds.has(id)) return unknownTarget;
  if (id === 'web.incoming_webhook.permissions.app_error') return refusedDestination;
  return id.startsWith('web.incoming_webhook.') && answer.status === 400 ? refusedMessage : undefined;
}
