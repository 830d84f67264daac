import { z } from 'zod';
import type { Message } from '../../messages/index.ts';
import type { Channel, IncomingResponse } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsOf, webAddress } from '../setting-shapes.ts';
import { fieldOf } from './shared/fields.ts';
import { cut, firstThatFit, jsonBytes } from './shared/cut.ts';
import {
  type Meaning,
  isAccepted,
  meaningForDestination,
  refusal,
  refusedDestination,
  unknownTarget,
} from './shared/refusal.ts';

const service = 'Microsoft Teams';
const settings = z.strictObject({ destinations: destinationsOf(webAddress) });
type Settings = z.infer<typeof settings>;

/**
 * Teams takes messages of about 28 KB ("Limits and specifications for Microsoft Teams"), in which the card stands as a text: its quotation marks take two bytes. What is
 * longer is taken with 202 and lost by the workflow (MessageSizeExceeded of 28,672 bytes, msteams-docs issue 11274: there 24,453 sent bytes were 28,897). Some is left
 * for what the workflow adds.
 */
const mostBytes = 24_000;
const asText = (value: unknown): number => jsonBytes(JSON.stringify(value));

/**
 * Teams by the webhook of a workflow, which posts an Adaptive Card. All text is in text runs, which no markup is looked for in; text blocks and facts
 * know a Markdown of which clients think differently. A workflow takes the card and posts it later, so 202 is all that is ever known, and there
 * is no key for repetitions. The answers of switched-off and deleted workflows were read in reports of their users, as Microsoft lists none.
 */
export const teams: Channel<Settings> = {
  name: 'teams',
  title: service,
  documentation:
    'https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook',
  setup:
    'In Teams open the menu of the channel, "Workflows", choose "Post to a channel when a webhook request is received", and copy the URL ' +
    'that it shows at the end into a destination.',
  settings,
  secrets: ['destinations[].url'],
  target: destinationTarget('key of a Teams destination'),
  render: (message) => {
    const actions = message.links
      .filter(({ url }) => url.length <= 2000)
      .slice(0, 6)
      .map(({ label, url }) => ({ type: 'Action.OpenUrl', title: cut(label, 60), url }));
    const least = envelope(message, required(message), actions);
    const more = firstThatFit(optional(message), mostBytes - asText(least), asText);
    return envelope(message, [...required(message), ...more], actions);
  },
  send: async (content, { settings, target }, io) => {
    const { url } = destinationOf(settings, target);
    const answer = await io.request({ method: 'POST', url, body: content, secrets: [url] });
    if (isAccepted(answer)) return {};
    throw refusal(answer, {
      title: service,
      secrets: [url],
      now: io.now(),
      meaning: meaningOf(answer) ?? meaningForDestination(answer.status),
      detail: fieldOf(answer, 'error', 'message'),
    });
  },
};

/** The codes of Azure Logic Apps, which runs workflows. */
export function meaningOf(answer: IncomingResponse): Meaning | undefined {
  const code = fieldOf(answer, 'error', 'code');
  if (code === 'WorkflowNotFound' || code === 'WorkflowTriggerNotFound' || code === 'WorkflowTriggerIsNotEnabled')
    return unknownTarget;
  if (code === 'DirectApiAuthorizationRequired' || code === 'DirectApiInvalidAuthorizationScheme')
    return refusedDestination;
  return undefined;
}

type Block = Readonly<Record<string, unknown>>;

function envelope(message: Message, body: readonly Block[], actions: readonly Block[]) {
  return {
    type: 'message',
    // Shown where a card is not: in notifications and lists.
    summary: message.title,
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          fallbackText: message.title,
          msteams: { width: 'Full' },
          body,
          actions,
        },
      },
    ],
  };
}

function required(message: Message): Block[] {
  return [
    {
      type: 'Container',
      style: styleOf(message),
      bleed: true,
      items: [block([{ text: message.title, size: 'large', weight: 'bolder' }])],
    },
    block([{ text: message.summary }]),
  ];
}

function optional(message: Message): Block[] {
  return [
    ...message.facts.map(({ label, value }) =>
      block([{ text: `${label}: `, weight: 'bolder' }, { text: value }], 'small'),
    ),
    ...message.sections.flatMap(({ heading, lines }) => [
      block([{ text: heading, weight: 'bolder' }]),
      ...lines.map((line) => block([{ text: line }], 'small')),
    ]),
  ];
}

type Run = { readonly text: string; readonly weight?: string; readonly size?: string };

function block(runs: readonly Run[], spacing = 'default'): Block {
  // A run without text is refused by some clients.
  return {
    type: 'RichTextBlock',
    spacing,
    inlines: runs.map((run) => ({ type: 'TextRun', ...run, text: run.text || '\u200b' })),
  };
}

function styleOf({ state, severity }: Message): string {
  if (state === 'recovered') return 'good';
  if (state === 'information') return 'accent';
  return severity === 'minor' ? 'warning' : 'attention';
}
