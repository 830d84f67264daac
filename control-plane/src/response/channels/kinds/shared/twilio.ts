import { z } from 'zod';
import type { ChannelIo, Delivered, IncomingResponse } from '../../channel.ts';
import { secretText } from '../../setting-shapes.ts';
import { basic } from './basic.ts';
import { fieldOf, referenceOf } from './fields.ts';
import {
  isAccepted,
  type Meaning,
  rateLimited,
  refusal,
  refusedCredentials,
  refusedMessage,
  unknownTarget,
} from './refusal.ts';

/** Settings with which one is known to Twilio. */
export const twilioAccount = {
  account_sid: z
    .string()
    .regex(/^AC[0-9a-f]{32}$/, 'must be AC and 32 hexadecimal digits')
    .describe('Account SID from the console.'),
  api_key_sid: z
    .string()
    .regex(/^SK[0-9a-f]{32}$/, 'must be SK and 32 hexadecimal digits')
    .optional()
    .describe('SID of an API key, where its secret is used instead of the auth token.'),
  auth_token: secretText(200).describe('Auth token, or the secret of the API key.'),
};

type TwilioAccount = {
  readonly account_sid: string;
  readonly api_key_sid?: string | undefined;
  readonly auth_token: string;
};

/** Posts to a list of an account: `Messages` or `Calls`. Twilio has no key for repetitions of either. @throws DeliveryError */
export async function createAtTwilio(
  io: ChannelIo,
  { account_sid, api_key_sid, auth_token }: TwilioAccount,
  list: 'Messages' | 'Calls',
  form: Readonly<Record<string, string>>,
): Promise<Delivered> {
  const authorization = basic(api_key_sid ?? account_sid, auth_token);
  const secrets = [auth_token, authorization];
  const answer = await io.request({
    method: 'POST',
    url: `${io.baseUrl}/2010-04-01/Accounts/${account_sid}/${list}.json`,
    headers: { authorization },
    body: new URLSearchParams(form),
    secrets,
  });
  if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'sid'));
  throw refusal(answer, {
    title: 'Twilio',
    meaning: meaningOf(answer),
    detail: fieldOf(answer, 'message'),
    secrets,
    now: io.now(),
  });
}

// "Error and Warning Dictionary", by number.
const meanings: readonly (readonly [Meaning, readonly number[]])[] = [
  // Wrong credentials, account closed, suspended or without money, account not found.
  [refusedCredentials, [10_001, 20_003, 20_005, 20_006, 20_008, 20_404, 30_002, 90_010]],
  [rateLimited, [20_429, 14_107, 21_611, 63_038]],
  // Not a number, not reachable by this sender, region not allowed, has unsubscribed, no mobile, not verified on a trial account.
  [
    unknownTarget,
    [
      13_224, 13_225, 13_226, 21_211, 21_214, 21_215, 21_216, 21_217, 21_219, 21_408, 21_421, 21_608, 21_610, 21_612,
      21_614, 21_635,
    ],
  ],
  // The sender is none of the account's, or its Messaging Service has none.
  [
    { code: 'not_configured', fault: 'configuration' },
    [21_210, 21_212, 21_213, 21_603, 21_606, 21_659, 21_660, 21_701, 21_703, 21_704, 21_705],
  ],
  [refusedMessage, [21_602, 21_617, 21_619, 21_658, 32_018]],
];

/** What the code of Twilio's error says; statuses alone do not tell a wrong number from a wrong sender. */
function meaningOf(answer: IncomingResponse): Meaning | undefined {
  const code = fieldOf(answer, 'code');
  return typeof code === 'number' ? meanings.find(([, codes]) => codes.includes(code))?.[0] : undefined;
}
