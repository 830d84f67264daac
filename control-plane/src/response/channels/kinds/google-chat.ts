import { z } from 'zod';
import type { Message } from '../../messages/index.ts';
import { escapeHtml } from '../../messages/index.ts';
import type { Channel, IncomingResponse } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsOf } from '../setting-shapes.ts';
import { referenceOf, fieldOf } from './shared/fields.ts';
import { cut, firstThatFit, jsonBytes } from './shared/cut.ts';
import {
  type Meaning,
  isAccepted,
  meaningForDestination,
  refusal,
  refusedDestination,
  refusedMessage,
} from './shared/refusal.ts';

const service = 'Google Chat';

const address = z
  .string()
  .max(1000)
  .refine(
    isWebhookAddress,
    'must be the URL of a Google Chat webhook: https://chat.googleapis.com/v1/spaces/…/messages?key=…&token=…',
  );

const settings = z.strictObject({ destinations: destinationsOf(address) });
type Settings = z.infer<typeof settings>;

/** "The maximum message size, including text and cards, is 32,000 bytes." */
const mostBytes = 30_000;

/**
 * Google Chat by an incoming webhook: one card, in the thread of what it is about. A space takes one message a second from all its webhooks
 * together. `requestId` makes a repetition answer with the message that stands; the page on webhooks does not mention it, the method that they call does.
 */
export const googleChat: Channel<Settings> = {
  name: 'google-chat',
  title: service,
  documentation: 'https://developers.google.com/workspace/chat/quickstart/webhooks',
  setup:
    'In Google Chat open the menu of the space, "Apps & integrations", "Webhooks", add one and copy its link into a destination.',
  settings,
  secrets: ['destinations[].url'],
  target: destinationTarget('key of a Google Chat destination'),
  baseUrl: 'https://chat.googleapis.com',
  render: (message) => {
    const [summary, ...widgets] = widgetsOf(message);
    const least = envelope(message, summary);
    return envelope(message, summary, firstThatFit(widgets, mostBytes - jsonBytes(least), jsonBytes));
  },
  send: async (content, { settings, target, message }, io) => {
    const { url } = destinationOf(settings, target);
    const called = posted(url, io.baseUrl, message.id);
    const answer = await io.request({
      method: 'POST',
      url: called,
      body: content,
      secrets: [url, ...new URL(url).searchParams.values()],
    });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'name'));
    throw refusal(answer, {
      title: service,
      secrets: [url],
      now: io.now(),
      meaning: meaningOf(answer) ?? meaningForDestination(answer.status),
      detail: fieldOf(answer, 'error', 'message'),
    });
  },
};

/** A bad key of the project is a 400 with a reason (google.rpc.ErrorInfo); others follow the statuses. */
export function meaningOf(answer: IncomingResponse): Meaning | undefined {
  if (answer.status !== 400) return undefined;
  return fieldOf(answer, 'error', 'details', 0, 'reason') === 'API_KEY_INVALID' ? refusedDestination : refusedMessage;
}

function isWebhookAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.origin !== 'https://chat.googleapis.com' || url.username !== '' || url.hash !== '')
    return false;
  return (
    /^\/v1\/spaces\/[\w-]{1,100}\/messages$/.test(url.pathname) &&
    url.searchParams.has('key') &&
    url.searchParams.has('token')
  );
}

function posted(address: string, baseUrl: string, id: string): string {
  const { pathname, searchParams } = new URL(address);
  searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
  searchParams.set('requestId', id);
  return `${baseUrl}${pathname}?${searchParams.toString()}`;
}

type Widget = Readonly<Record<string, unknown>>;

function envelope(message: Message, summary: Widget, more: readonly Widget[] = []) {
  const buttons = message.links
    .filter(({ url }) => url.length <= 2000)
    .map(({ label, url }) => ({ text: cut(label, 60), onClick: { openLink: { url } } }));
  const section = { widgets: [summary, ...more, ...(buttons.length === 0 ? [] : [{ buttonList: { buttons } }])] };
  return {
    // Shown in notifications. Not `text`: that would be a second message, with mentions.
    fallbackText: message.title,
    cardsV2: [
      {
        cardId: 'message',
        card: { header: { title: message.title }, sections: [section] },
      },
    ],
    thread: { threadKey: message.subjectKey },
  };
}

/** Paragraphs know some HTML; the label of a decorated text is plain. */
function widgetsOf(message: Message): [Widget, ...Widget[]] {
  return [
    { textParagraph: { text: escapeHtml(message.summary) } },
    ...message.facts.map(({ label, value }) => ({
      decoratedText: { topLabel: label, text: escapeHtml(value), wrapText: true },
    })),
    ...message.sections.map(({ heading, lines }) => ({
      textParagraph: { text: [`<b>${escapeHtml(heading)}</b>`, ...lines.map(escapeHtml)].join('<br>') },
    })),
  ];
}
