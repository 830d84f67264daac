import { z } from 'zod';
import { escapeMarkdown } from '../../messages/index.ts';
import type { Channel, IncomingResponse } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsOf } from '../setting-shapes.ts';
import { referenceOf, fieldOf } from './shared/fields.ts';
import { colourOf } from './shared/colour.ts';
import { cut, type Measure } from './shared/cut.ts';
import { layOut } from './shared/lay-out.ts';
import { markdown } from './shared/markdown.ts';
import { openLink } from './shared/open-link.ts';
import {
  type Meaning,
  isAccepted,
  meaningForDestination,
  rateLimited,
  refusal,
  secondsToMs,
  unknownTarget,
} from './shared/refusal.ts';

const service = 'Discord';
const hosts = new Set(['discord.com', 'discordapp.com', 'ptb.discord.com', 'canary.discord.com']);
const path = /^\/api(\/v\d{1,2})?\/webhooks\/\d{5,25}\/[A-Za-z0-9_-]{20,200}$/;

/** Only Discord's own addresses: what is dialled is the operator's base URL, with the path of this. */
const address = z
  .string()
  .max(500)
  .refine(isWebhookAddress, 'must be the URL of a Discord webhook: https://discord.com/api/webhooks/…');

const settings = z.strictObject({ destinations: destinationsOf(address) });
type Settings = z.infer<typeof settings>;

// "Embed Limits" of the documentation: characters of each part, and of all parts of a message together.
const most = { title: 256, description: 4096, together: 6000 };
const escaped: Measure = (text) => escapeMarkdown(text).length;

/**
 * Discord by an incoming webhook: one embed. Nobody is pinged, whatever stands in a text. Webhooks have no key by which Discord would know a
 * repetition. Its documentation was read in the repository discord/discord-api-docs and in reports of its errors.
 */
export const chat: Channel<Settings> = {
  name: 'chat',
  aliases: ['discord'],
  title: service,
  documentation: 'https://discord.com/developers/docs/resources/webhook#execute-webhook',
  setup:
    'In Discord open the settings of the channel, "Integrations", "Webhooks", make a webhook and copy its URL into a destination. ' +
    'For a thread, append ?thread_id= and its id.',
  settings,
  secrets: ['destinations[].url'],
  target: destinationTarget('key of a Discord destination'),
  baseUrl: 'https://discord.com',
  render: (message) => {
    const title = escapeMarkdown(cut(message.title, most.title, escaped));
    // Twelve facts of at most 350 characters leave 1,500 for what is said in sentences.
    const fields = message.facts.map(({ label, value }) => ({
      name: escapeMarkdown(cut(label, 100, escaped)) || '\u200b',
      value: escapeMarkdown(cut(value, 250, escaped)) || '\u200b',
      inline: value.length <= 40,
    }));
    const used = title.length + fields.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
    const description = layOut(message, markdown, Math.min(most.description, most.together - used), {
      title: false,
      facts: false,
    });
    const url = openLink(message);
    const embed = {
      title,
      ...(url === undefined ? {} : { url }),
      ...(description === '' ? {} : { description }),
      color: Number.parseInt(colourOf(message), 16),
      fields,
      timestamp: message.at,
    };
    return { embeds: [embed], allowed_mentions: { parse: [] } };
  },
  send: async (content, { settings, target }, io) => {
    const { url } = destinationOf(settings, target);
    const answer = await io.request({ method: 'POST', url: executed(url, io.baseUrl), body: content, secrets: [url] });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'id'));
    throw refusal(answer, {
      title: service,
      secrets: [url],
      now: io.now(),
      meaning: meaningOf(answer) ?? meaningForDestination(answer.status),
      detail: fieldOf(answer, 'message'),
    });
  },
};

/** A rate says in its body how long it lasts. "JSON Error Codes": unknown channel (of a thread), unknown webhook, invalid webhook token, a forum without a thread, a forum that takes no webhooks. */
export function meaningOf(answer: IncomingResponse): Meaning | undefined {
  if (answer.status === 429) return { ...rateLimited, retryAfterMs: secondsToMs(fieldOf(answer, 'retry_after')) };
  const code = fieldOf(answer, 'code');
  return typeof code === 'number' && [10_003, 10_015, 50_027, 220_001, 220_004].includes(code)
    ? unknownTarget
    : undefined;
}

/**
 * `wait` makes Discord answer when the message stands, and with its id. The addresses that it gives out name no version of its API, which may mean the sixth: that one asks
 * to wait in milliseconds where later ones, from the eighth on, ask in seconds.
 */
function executed(address: string, baseUrl: string): string {
  const { pathname, searchParams } = new URL(address);
  const thread = searchParams.get('thread_id');
  const versioned = pathname.replace(/^\/api(\/v\d{1,2})?\//, '/api/v10/');
  return `${baseUrl}${versioned}?wait=true${thread === null ? '' : `&thread_id=${thread}`}`;
}

function isWebhookAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:' || !hosts.has(url.host) || url.username !== '' || url.hash !== '')
    return false;
  return path.test(url.pathname) && /^(\?thread_id=\d{5,25})?$/.test(url.search);
}
