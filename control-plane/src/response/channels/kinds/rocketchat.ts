import { z } from 'zod';
import { withLookAlikes, withoutBlocks, zeroWidth } from '../../messages/index.ts';
import type { Channel, IncomingResponse } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsOf, webAddress } from '../setting-shapes.ts';
import { fieldOf } from './shared/fields.ts';
import { colourOf } from './shared/colour.ts';
import { cut } from './shared/cut.ts';
import { layOut, type Markup } from './shared/lay-out.ts';
import {
  isAccepted,
  type Meaning,
  meaningForDestination,
  notFoundByProxy,
  rateLimited,
  refusal,
  refusedDestination,
  refusedMessage,
  secondsToMs,
  unknownTarget,
} from './shared/refusal.ts';

const service = 'Rocket.Chat';
const settings = z.strictObject({ destinations: destinationsOf(webAddress) });
type Settings = z.infer<typeof settings>;

/**
 * Rocket.Chat by an incoming webhook: one attachment. A message may have 5,000 characters unless its administrator says otherwise
 * (Message_MaxAllowedSize). There is no key for repetitions. What its errors are was read in its source (integrations/server/api), as the documentation
 * lists only success.
 */
export const rocketchat: Channel<Settings> = {
  name: 'rocketchat',
  title: service,
  documentation: 'https://docs.rocket.chat/docs/integrations',
  setup:
    'In Rocket.Chat open "Administration", "Workspace", "Integrations", "New", "Incoming", enable it, choose the channel and the posting user, save, and copy the ' +
    'webhook URL into a destination.',
  settings,
  secrets: ['destinations[].url'],
  target: destinationTarget('key of a Rocket.Chat destination'),
  render: (message) => ({
    attachments: [
      {
        color: `#${colourOf(message)}`,
        text: layOut(message, markup, 4000, { title: false }),
        ts: message.at,
      },
    ],
    // What notifications show.
    text: markup.title(cut(message.title, 200)),
  }),
  send: async (content, { settings, target }, io) => {
    const { url } = destinationOf(settings, target);
    const answer = await io.request({ method: 'POST', url, body: content, secrets: [url] });
    const error = fieldOf(answer, 'error') ?? fieldOf(answer, 'message');
    if (isAccepted(answer) && fieldOf(answer, 'success') !== false) return {};
    throw refusal(answer, {
      title: service,
      secrets: [url],
      now: io.now(),
      meaning:
        meaningOf(answer, io.now()) ??
        notFoundByProxy(answer, fieldOf(answer, 'success') === false) ??
        meaningForDestination(answer.status),
      detail: error,
    });
  },
};

/**
 * A wrong address is a 400 with a sentence; everything else that is refused is told by an error's name. A webhook that is switched off is a 503 in the service's own
 * form; a proxy's 503 has none. The end of a rate stands in a header, in milliseconds since the epoch.
 */
export function meaningOf(answer: IncomingResponse, now: number): Meaning | undefined {
  if (answer.status === 429) {
    const reset = Number(answer.headers['x-ratelimit-reset'] ?? Number.NaN);
    return { ...rateLimited, retryAfterMs: secondsToMs((reset - now) / 1000) };
  }
  const error = fieldOf(answer, 'error');
  if (answer.status === 503 && fieldOf(answer, 'success') === false && error === 'Service Unavailable')
    return unknownTarget;
  if (typeof error !== 'string') return undefined;
  if (
    /invalid integration id or token|invalid-channel|error-invalid-room|error-archived|room_is_archived|overriding destination/i.test(
      error,
    )
  ) {
    return unknownTarget;
  }
  if (/error-not-allowed|unauthorized/i.test(error)) return refusedDestination;
  return isAccepted(answer) ? refusedMessage : undefined;
}

/** Its parser knows backslashes before a few marks only, so nothing is escaped by one; mentions and channels are broken behind their first character. */
function escapeRocketChat(text: string): string {
  return withoutBlocks(withLookAlikes(text, '_'))
    .replaceAll('](', `]${zeroWidth}(`)
    .replaceAll('||', `|${zeroWidth}|`)
    .replaceAll(/[@#<](?=[\p{L}\p{N}_.:/-])/gu, (mark) => mark + zeroWidth)
    .replaceAll(/:(?=[\w+-]+:)/gu, `:${zeroWidth}`)
    .replaceAll(/\b(https?|ftp)(?=:\/\/)/giu, (scheme) => scheme + zeroWidth);
}

const markup: Markup = {
  escape: escapeRocketChat,
  title: (text) => `*${escapeRocketChat(text)}*`,
  heading: (text) => `*${escapeRocketChat(text)}*`,
  fact: (label, value) => `*${escapeRocketChat(label)}:* ${escapeRocketChat(value)}`,
  link: ({ label, url }) =>
    `[${escapeRocketChat(label).replaceAll(/[[\]]/g, '')}](${url.replaceAll('(', '%28').replaceAll(')', '%29')})`,
};
