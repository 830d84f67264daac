import { z } from 'zod';
import type { Message } from '../../messages/index.ts';
import { withLookAlikes } from '../../messages/index.ts';
import type { Channel, IncomingResponse } from '../channel.ts';
import { secretText } from '../setting-shapes.ts';
import { cut } from './shared/cut.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, type Markup } from './shared/lay-out.ts';
import { openLink } from './shared/open-link.ts';
import { phoneNumber } from './shared/phone-number.ts';
import {
  isAccepted,
  type Meaning,
  rateLimited,
  refusal,
  refusedCredentials,
  refusedMessage,
  unavailable,
  unknownTarget,
} from './shared/refusal.ts';

const service = 'WhatsApp';
/** A version of the Graph API lasts for about two years. */
const graphVersion = 'v23.0';

const settings = z.strictObject({
  phone_number_id: z
    .string()
    .regex(/^\d{5,25}$/, 'must be the id of the number, 5 to 25 digits, not the number itself')
    .describe('Id of the business number that sends.'),
  access_token: secretText(1000).describe('Permanent token of a system user with whatsapp_business_messaging.'),
  template_name: z
    .string()
    .regex(/^[a-z0-9_]{1,512}$/, 'must be lower-case letters, digits and "_"')
    .optional()
    .describe(
      'Approved utility template whose body has three numbered variables: title, summary, address of the page.',
    ),
  template_language: z
    .string()
    .regex(/^[a-z]{2,3}(_[A-Z]{2})?$/, 'must be a language such as en or en_US')
    .default('en')
    .describe('Language in which the template was approved.'),
});
type Settings = z.infer<typeof settings>;

/**
 * WhatsApp by Meta's Cloud API. Whoever has not written to the number within 24 hours gets templates only; a text is then taken and dropped later
 * (131047), which only Meta's webhooks tell. So where there is a template, it is always used. There is no key for repetitions.
 */
export const whatsapp: Channel<Settings> = {
  name: 'whatsapp',
  title: service,
  documentation: 'https://developers.facebook.com/documentation/business-messaging/whatsapp/messages/send-messages',
  setup:
    'Make a WhatsApp app at developers.facebook.com, take the phone number id, and a permanent token of a system user. Have a utility template approved with the ' +
    'body "Alert: {{1}}. {{2}} See {{3}} for more." and give its name: without it only those are reached who wrote to the number within 24 hours.',
  settings,
  secrets: ['access_token'],
  target: phoneNumber,
  baseUrl: 'https://graph.facebook.com',
  render: (message, { template_name, template_language }, target) => ({
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: target.slice(1),
    ...(template_name === undefined ? textOf(message) : templateOf(message, template_name, template_language)),
  }),
  send: async (content, { settings }, io) => {
    const { phone_number_id, access_token } = settings;
    const answer = await io.request({
      method: 'POST',
      url: `${io.baseUrl}/${graphVersion}/${phone_number_id}/messages`,
      headers: { authorization: `Bearer ${access_token}` },
      body: content,
      secrets: [access_token],
    });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'messages', 0, 'id'));
    const detail = fieldOf(answer, 'error', 'error_data', 'details') ?? fieldOf(answer, 'error', 'message');
    throw refusal(answer, {
      title: service,
      meaning: meaningOf(answer),
      detail,
      secrets: [access_token],
      now: io.now(),
    });
  },
};

function textOf(message: Message) {
  // "Maximum 4096 characters."
  return { type: 'text', text: { preview_url: false, body: layOut(message, markup, 4000) } };
}

/** Variables are one line, not empty, and with the template's own text at most 1,024 characters together. */
function templateOf(message: Message, name: string, language: string) {
  const parameters = [cut(message.title, 200), cut(message.summary, 400), openLink(message, 250) ?? '–'].map(
    (text) => ({
      type: 'text',
      text: text.replaceAll(/\s+/g, ' ').trim() || '–',
    }),
  );
  return {
    type: 'template',
    template: { name, language: { code: language }, components: [{ type: 'body', parameters }] },
  };
}

const markup: Markup = {
  escape: (text) => withLookAlikes(text, '_*~'),
  title: (text) => `*${withLookAlikes(text, '_~')}*`,
  heading: (text) => `*${withLookAlikes(text, '_~')}*`,
  fact: (label, value) => `${withLookAlikes(label, '_*~')}: ${withLookAlikes(value, '_*~')}`,
  link: ({ label, url }) => `${withLookAlikes(label, '_*~')}: ${url}`,
};

// "Error codes", by number.
const meanings: readonly (readonly [Meaning, readonly number[]])[] = [
  // Authentication, permissions, a locked or unpaid account, a number that was deleted, is not registered, has no certificate or no approved name.
  [refusedCredentials, [0, 3, 10, 33, 190, 368, 131_005, 131_031, 131_037, 131_042, 131_045, 133_010]],
  [rateLimited, [4, 80_007, 130_429, 131_048, 131_056]],
  // Not deliverable to this number; sender and recipient are one; not among the recipients of a test number; a country that the account must not write to.
  [unknownTarget, [131_021, 131_026, 131_030, 131_063]],
  // The last: a template that was made or changed some minutes ago.
  [unavailable, [1, 2, 131_000, 131_016, 133_004, 134_101]],
  [{ code: 'not_configured', fault: 'configuration' }, [132_001, 134_102]],
  [refusedMessage, [100, 131_008, 131_009, 131_047, 131_051, 132_000, 132_005, 132_007, 132_012, 132_015, 132_016]],
];

/** Meta asks to go by the error's code, as statuses differ. */
function meaningOf(answer: IncomingResponse): Meaning | undefined {
  const code = fieldOf(answer, 'error', 'code');
  if (typeof code !== 'number') return undefined;
  if (code >= 200 && code <= 299) return refusedCredentials;
  return meanings.find(([, codes]) => codes.includes(code))?.[0];
}
