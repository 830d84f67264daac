import { z } from 'zod';
import { asShort } from '../../messages/index.ts';
import type { Channel, IncomingResponse } from '../channel.ts';
import { secretText } from '../setting-shapes.ts';
import { basic } from './shared/basic.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { phoneNumber } from './shared/phone-number.ts';
import { isAccepted, type Meaning, rateLimited, refusal, refusedCredentials, unknownTarget } from './shared/refusal.ts';
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

/** Short messages by Vonage's Messages API, at most 1,000 characters. `client_ref` names the message in its logs; it does not keep repetitions out. */
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

const notSender = { code: 'not_configured', fault: 'configuration' } as const;
const byCode: Readonly<Record<string, Meaning>> = {
  '1000': rateLimited,
  '1040': unknownTarget,
  '1050': unknownTarget,
  '1060': refusedCredentials,
  '1080': refusedCredentials,
  '1120': notSender,
};

/** Problems (RFC 7807) have a type that ends in the code of "API errors", and name the parameters that are wrong. */
function meaningOf(answer: IncomingResponse): Meaning | undefined {
  const type = fieldOf(answer, 'type');
  const known = typeof type === 'string' ? byCode[/#(\d{4})$/.exec(type)?.[1] ?? ''] : undefined;
  if (known !== undefined) return known;
  const wrong = fieldOf(answer, 'invalid_parameters', 0, 'name');
  if (wrong === 'to') return unknownTarget;
  return wrong === 'from' ? notSender : undefined;
}
