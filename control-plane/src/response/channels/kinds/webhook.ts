import { ownHeaders, standardSecret } from '@parallax/api-contract';
import { z } from 'zod';
import { hmacSignature } from '../../../platform/crypto/webhook-signature.ts';
import { answerFault, isSuccess } from '../answer-fault.ts';
import type { Channel } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { destinationsWith, webAddress } from '../setting-shapes.ts';
import { fillTemplate, templateProblem } from '../template/fill-template.ts';
import type { TemplateForm } from '../template/fill-template.ts';

/** How a body says what it is, and how values are escaped in it. */
const forms = {
  'application/json': 'json',
  'application/x-www-form-urlencoded': 'form',
  'application/xml': 'xml',
  'text/plain': 'text',
} as const satisfies Readonly<Record<string, TemplateForm>>;
type ContentType = keyof typeof forms;
const contentTypes = Object.keys(forms) as [ContentType, ...ContentType[]];

const settings = z.strictObject({
  destinations: destinationsWith({
    url: webAddress.describe('Where the message is sent. It is a credential and never shown.'),
    method: z.enum(['POST', 'PUT']).default('POST').describe('How it is sent.'),
    headers: ownHeaders
      .optional()
      .describe('Sent with every message, such as `Authorization`. Their values are never shown.'),
    secret: standardSecret.optional().describe('Messages are signed with it after Standard Webhooks. Never shown.'),
    content_type: z.enum(contentTypes).default('application/json').describe('What the template makes.'),
    template: z
      .string()
      .min(1)
      .max(10_000)
      .optional()
      .describe(
        'The body, with at most 50 placeholders such as `{{title}}`, escaped for its content type. Absent: the JSON that docs/channels.md describes.',
      ),
  }).superRefine((list, context) => {
    for (const [index, { template, content_type: type }] of list.entries()) {
      const problem = template === undefined ? undefined : templateProblem(template, forms[type]);
      if (problem !== undefined) context.addIssue({ code: 'custom', path: [index, 'template'], message: problem });
    }
  }),
});
type Settings = z.output<typeof settings>;

type Content = { readonly body: string; readonly type: ContentType };

/** A message to an address of the customer's own. */
export const webhook: Channel<Settings, Content> = {
  name: 'webhook',
  title: 'Webhook',
  documentation: 'https://www.standardwebhooks.com/',
  setup:
    'Name an address that takes POST or PUT. With a secret every message carries the signature headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`). A template replaces the body.',
  settings,
  secrets: ['destinations[].url', 'destinations[].headers', 'destinations[].secret'],
  target: destinationTarget('key of a destination'),
  render: (message, { destinations }, target) => {
    const destination = destinations.find(({ key }) => key === target);
    if (destination?.template !== undefined) {
      const { template, content_type: type } = destination;
      return { body: fillTemplate(template, forms[type], message), type };
    }
    const body = {
      type: `alert.${message.kind}`,
      id: message.id,
      timestamp: message.at,
      subject_key: message.subjectKey,
      state: message.state,
      severity: message.severity,
      title: message.title,
      summary: message.summary,
      started_at: message.startedAt,
      ended_at: message.endedAt,
      workspace: message.workspace,
      subjects: message.subjects,
      subject_count: message.subjectCount,
      links: message.links.filter(({ purpose }) => purpose === 'open').map(({ url }) => url),
      data: message.data,
    };
    return { body: JSON.stringify(body), type: 'application/json' };
  },
  send: async ({ body, type }, to, io) => {
    const destination = destinationOf(to.settings, to.target);
    const { secret, headers = {} } = destination;
    const seconds = Math.floor(io.now() / 1_000);
    const response = await io.request({
      method: destination.method,
      url: destination.url,
      headers: {
        ...headers,
        'content-type': type === 'application/json' ? type : `${type}; charset=utf-8`,
        'webhook-id': to.message.id,
        'webhook-timestamp': String(seconds),
        ...(secret !== undefined && {
          'webhook-signature': hmacSignature(secret, { id: to.message.id, seconds, body }),
        }),
      },
      body,
    });
    if (isSuccess(response.status)) return {};
    throw answerFault(response, {
      service: 'The webhook',
      nowMs: io.now(),
      meanings: {
        // The credentials belong to this address and not to the others.
        401: ['refused_credentials', 'target'],
        403: ['refused_credentials', 'target'],
        // Servers answer so while they are deployed; whoever means it says 410.
        404: ['unexpected_status', 'passing'],
      },
    });
  },
};
