import { z } from 'zod';
import { asShort } from '../../messages/index.ts';
import type { Channel, IncomingResponse } from '../channel.ts';
import { secretText } from '../setting-shapes.ts';
import { basic } from './shared/basic.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { phoneNumber } from './shared/phone-number.ts';
import {
  isAccepted,
  type Meaning,
  rateLimited,
  refusal,
  refusedCredentials,
  unavailable,
  unknownTarget,
} from './shared/refusal.ts';
import { segments } from './shared/segments.ts';
import { uuidOf } from './shared/uuid-of.ts';

const service = 'Vonage';

const settings = z.strictObject({
  api_key: z
    .string()
    .regex(/^[A-Za-z0-9]{4,40}$/, 'must be 4 to 40 letters and digits')
    .describe('API key from the dashboard.'),
  api_secret: secretText(200).describe('API secret from the dashboard.'),
  from: z
    .string()
    .regex(
      /^(\+?[1-9]\d{6,14}|(?=.*[A-Za-z])[A-Za-z0-9 ]{1,11})$/,
      'must be a number, or a sender id of 1 to 11 letters and digits',
    )
    .describe('Number or sender id that sends.'),
  segments,
});
type Settings = z.infer<typeof settings>;

/** Short messages by Vonage's Messages API, at most 3,200 characters; six segments are fewer. `client_ref` names the message in its logs; it does not keep repetitions out. */
export const vonage: Channel<Settings> = {
  name: 'vonage',
  title: 'SMS (Vonage)',
  documentation: 'https://developer.vonage.com/en/api/messages',
  setup:
    'In the Vonage dashboard copy API key and API secret, and rent a number or use a sender id that the country allows.',
  settings,
  secrets: ['api_secret'],
  target: phoneNumber,
  baseUrl: 'https://api.nexmo.com',
  render: (message, { from, segments }, target) => ({
    message_type: 'text',
    channel: 'sms',
    to: target.slice(1),
    from: from.replace(/^\+/, ''),
    text: asShort(message, segments),
    client_ref: uuidOf(message.id, target),
  }),
  send: async (content, { settings }, io) => {
    const { api_key, api_secret } = settings;
    const authorization = basic(api_key, api_secret);
    const secrets = [api_secret, authorization];
    const answer = await io.request({
      method: 'POST',
      url: `${io.baseUrl}/v1/messages`,
      headers: { authorization, accept: 'application/json' },
      body: content,
      secrets,
    });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'message_uuid'));
    const detail = fieldOf(answer, 'detail') ?? fieldOf(answer, 'title');
    throw refusal(answer, { title: service, meaning: meaningOf(answer), detail, secrets, now: io.now() });
  },
};

const notConfigured = { code: 'not_configured', fault: 'configuration' } as const;

// "API errors": words for all interfaces, numbers for messages.
const meanings: readonly (readonly [Meaning, readonly string[]])[] = [
  [rateLimited, ['throttled', '1000', '1241', '1460', '1472']],
  [unavailable, ['1030', '1100', '1180', '1230', '1331']],
  // A prefix that nobody has, barred, not on the list of a demo account, no recipient, no longer active, has said STOP.
  [unknownTarget, ['1040', '1050', '1160', '1170', '1190', '1240', '1430']],
  [refusedCredentials, ['unauthorized', 'forbidden', 'unprovisioned', 'account-suspended', 'invalid-api-key']],
  [refusedCredentials, ['1060', '1080', '1140']],
  // No credit; the sender is not allowed.
  [notConfigured, ['low-balance', '1070']],
  [notConfigured, ['1120', '1420', '1476', '1481']],
];

/** Problems (RFC 7807) have a type that ends in the code of "API errors", and name the parameters that are wrong. */
function meaningOf(answer: IncomingResponse): Meaning | undefined {
  const type = fieldOf(answer, 'type');
  const code = typeof type === 'string' ? (/#([a-z-]+|\d{4})$/.exec(type)?.[1] ?? '') : '';
  const known = meanings.find(([, codes]) => codes.includes(code))?.[0];
  if (known !== undefined) return known;
  const wrong = fieldOf(answer, 'invalid_parameters', 0, 'name');
  if (wrong === 'to') return unknownTarget;
  if (wrong === 'from') return notConfigured;
  return answer.status === 402 ? notConfigured : undefined;
}
