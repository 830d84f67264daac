import { z } from 'zod';
import { cut, escapeSlack } from '../../messages/index.ts';
import type { Message, MessageState } from '../../messages/index.ts';
import { answerFault, isSuccess } from '../answer-fault.ts';
import type { Channel } from '../channel.ts';
import type { DeliveryErrorCode, DeliveryFault } from '../delivery-error.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsOf } from '../setting-shapes.ts';
import { layOut, type Markup, plain } from './shared/lay-out.ts';

const settings = z.strictObject({ destinations: destinationsOf() });
type Settings = z.output<typeof settings>;

type Block = Readonly<Record<string, unknown>>;
type Content = {
  readonly text: string;
  readonly attachments: readonly { readonly color: string; readonly blocks: readonly Block[] }[];
  readonly unfurl_links: false;
  readonly unfurl_media: false;
};

const colours: Readonly<Record<MessageState, string>> = {
  problem: '#c62828',
  recovered: '#2e7d32',
  information: '#1d4f91',
};

// docs.slack.dev, "Reference: blocks": text of a section 3,000 characters, of a header 150, fields 10 of 2,000, blocks 50, labels of buttons 75.
const most = { section: 2_900, fallback: 300, fields: 10, field: 500, label: 70, url: 3_000 } as const;

/** Slack, by an incoming webhook for each room. */
export const teamChat: Channel<Settings, Content> = {
  name: 'team-chat',
  aliases: ['slack'],
  title: 'Slack',
  documentation: 'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks',
  setup:
    'Create an app at api.slack.com, switch "Incoming Webhooks" on, add one to the channel and copy its URL into a destination; or connect Slack by its page of consent where the operator has set that up.',
  settings,
  secrets: ['destinations[].url'],
  baseUrl: 'https://hooks.slack.com',
  target: destinationTarget('key of a Slack destination'),
  render: (message) => ({
    text: escapeSlack(cut(message.title, most.fallback)),
    attachments: [{ color: colours[message.state], blocks: blocksOf(message) }],
    unfurl_links: false,
    unfurl_media: false,
  }),
  send: async (content, { settings: { destinations }, target }, io) => {
    const { url } = destinationOf({ destinations }, target);
    const response = await io.request({ method: 'POST', url, body: content, secrets: [url] });
    if (isSuccess(response.status)) return {};
    const reason = /^[a-z_]{1,60}$/.test(response.text.trim()) ? response.text.trim() : undefined;
    const meaning = reason === undefined ? undefined : reasons[reason];
    throw answerFault(response, {
      service: 'Slack',
      nowMs: io.now(),
      reason,
      meanings: {
        // The URL is the credential, of this room and no other.
        401: ['refused_credentials', 'target'],
        403: ['refused_credentials', 'target'],
        ...(meaning !== undefined && { [response.status]: meaning }),
      },
    });
  },
};

/** Words of the body beside the status ("Handling errors" of the page above). */
const reasons: Readonly<Record<string, readonly [DeliveryErrorCode, DeliveryFault]>> = {
  invalid_payload: ['refused_message', 'message'],
  invalid_token: ['refused_credentials', 'target'],
  no_active_hooks: ['unknown_target', 'target'],
  no_service: ['unknown_target', 'target'],
  no_service_id: ['unknown_target', 'target'],
  no_team: ['unknown_target', 'target'],
  team_disabled: ['unknown_target', 'target'],
  user_not_found: ['unknown_target', 'target'],
  channel_not_found: ['unknown_target', 'target'],
  channel_is_archived: ['unknown_target', 'target'],
  action_prohibited: ['unknown_target', 'target'],
  posting_to_general_channel_denied: ['unknown_target', 'target'],
  no_text: ['refused_message', 'message'],
  too_many_attachments: ['refused_message', 'message'],
  rollup_error: ['service_unavailable', 'passing'],
};

function blocksOf(message: Message): Block[] {
  const links = message.links.filter(({ purpose, url }) => purpose !== 'unsubscribe' && url.length <= most.url);
  const body = layOut(message, markup, most.section, { facts: false, links: false });
  const fields = message.facts
    .slice(0, most.fields)
    .map(({ label, value }) => mrkdwn(`${strong(escaped(label, 100))}\n${escaped(value, most.field)}`));
  return [
    { type: 'section', text: mrkdwn(body) },
    ...(fields.length > 0 ? [{ type: 'section', fields }] : []),
    ...(links.length > 0
      ? [
          {
            type: 'actions',
            elements: links.slice(0, 5).map(({ label, url }) => ({
              type: 'button',
              text: { type: 'plain_text', text: cut(label, most.label), emoji: false },
              url,
            })),
          },
        ]
      : []),
  ];
}

const markup: Markup = {
  ...plain,
  escape: escapeSlack,
  title: (text) => strong(escapeSlack(text)),
  heading: (text) => strong(escapeSlack(text)),
};

/** Cut before it is escaped, so that no escape is torn apart; an escape takes up to five times as much. */
function escaped(text: string, longest: number): string {
  return escapeSlack(cut(text, longest));
}

function strong(text: string): string {
  return text === '' ? '' : `*${text}*`;
}

function mrkdwn(text: string): Block {
  return { type: 'mrkdwn', text, verbatim: true };
}
