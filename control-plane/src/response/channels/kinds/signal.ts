import { z } from 'zod';
import type { Channel, IncomingResponse, TargetRule } from '../channel.ts';
import { lineText, secretText, webAddress } from '../setting-shapes.ts';
import { basic } from './shared/basic.ts';
import { fieldOf, referenceOf } from './shared/fields.ts';
import { layOut, plain } from './shared/lay-out.ts';
import { maskPhoneNumber, parsePhoneNumber } from './shared/phone-number.ts';
import {
  isAccepted,
  type Meaning,
  notFoundByProxy,
  rateLimited,
  refusal,
  refusedCredentials,
  unavailable,
  unknownTarget,
} from './shared/refusal.ts';

const service = 'Signal';

const settings = z.strictObject({
  api_url: webAddress.describe('Address of your signal-cli-rest-api.'),
  number: z
    .string()
    .regex(/^\+[1-9]\d{7,14}$/, 'must be a telephone number in E.164')
    .describe('The number that is registered there and sends.'),
  username: lineText(100)
    .regex(/^[^:]+$/, 'must not contain ":"')
    .optional()
    .describe('User name, where a proxy in front of it asks for one.'),
  password: secretText().optional().describe('Password for that proxy.'),
});
type Settings = z.infer<typeof settings>;

/** A person by number, or a group by its id, which the API gives as `group.` and base64. */
const target: TargetRule<Settings> = {
  label: 'telephone number in E.164, or group id from GET /v1/groups',
  example: '+4915123456789',
  parse: (text) => {
    const typed = text.trim();
    if (/^group\.[A-Za-z0-9+/]{10,200}={0,2}$/.test(typed)) return { ok: true, target: typed };
    return parsePhoneNumber(typed);
  },
  mask: (text) => (text.startsWith('group.') ? `group.…${text.slice(-4)}` : maskPhoneNumber(text)),
  // Numbers and groups are the same for all who write to them.
  reaches: (text) => text,
};

/**
 * Signal by signal-cli-rest-api, which its users run themselves. Plain text: the styled mode would find marks in names. Longer messages than 2,000 bytes
 * become an attachment in Signal, so they stay shorter. There is no key for repetitions. Its Swagger document has 201, 400 and 429; what the
 * sentences of a 400 are was read in its issues, as it passes on those of signal-cli.
 */
export const signal: Channel<Settings> = {
  name: 'signal',
  title: service,
  documentation: 'https://bbernhard.github.io/signal-cli-rest-api/',
  setup:
    'Run bbernhard/signal-cli-rest-api, register or link a number there, and give its address and the number here. It has no password of its own: put it ' +
    'behind a proxy that asks for one, or allow the private address to your installation.',
  settings,
  secrets: ['password'],
  target,
  // Signal's servers are slow where many devices are linked.
  timeoutMs: 20_000,
  render: (message, { number }, to) => ({
    number,
    recipients: [to],
    message: layOut(message, plain, 1900, {}, (text) => Buffer.byteLength(text, 'utf8')),
    text_mode: 'normal',
  }),
  send: async (content, { settings, target: to }, io) => {
    const { api_url, username, password } = settings;
    const authorization = username === undefined ? undefined : basic(username, password ?? '');
    const secrets = [password, authorization].filter((secret) => secret !== undefined);
    const answer = await io.request({
      method: 'POST',
      url: `${api_url.replace(/\/+$/, '')}/v2/send`,
      ...(authorization === undefined ? {} : { headers: { authorization } }),
      body: content,
      secrets,
    });
    if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'timestamp'));
    if (to.startsWith('group.') && onlyMissesMembers(answer)) return {};
    throw refusal(answer, {
      title: service,
      meaning:
        meaningOf(answer, settings.number) ?? notFoundByProxy(answer, typeof fieldOf(answer, 'error') === 'string'),
      detail: fieldOf(answer, 'error'),
      secrets,
      now: io.now(),
    });
  },
};

/**
 * A group got the message, but a member of it has left Signal: signal-cli tells of that one and ends with the message's time, and the API makes a 400 of it
 * (signal-cli-rest-api issue 857). Another attempt would tell the others twice.
 */
function onlyMissesMembers(answer: IncomingResponse): boolean {
  const words = fieldOf(answer, 'error');
  return answer.status === 400 && typeof words === 'string' && /\(some\).*unregistered user.*\d{13}\s*$/is.test(words);
}

/** Everything that signal-cli could not do is a 400 with its sentence. That a user is not registered is said of either side, by number. */
function meaningOf(answer: IncomingResponse, sender: string): Meaning | undefined {
  const words = fieldOf(answer, 'error');
  if (answer.status !== 400 || typeof words !== 'string') return undefined;
  if (/\buser .* is not registered/i.test(words)) return words.includes(sender) ? refusedCredentials : unknownTarget;
  if (
    /unregistered user|not registered on signal|invalid (phone )?number|group ?not ?found|no group|invalid group id/i.test(
      words,
    )
  )
    return unknownTarget;
  if (/rate ?limit|\[429\]|captcha|proof required/i.test(words)) return rateLimited;
  if (/specified account does not exist|invalid account|not authorized|authorization failed/i.test(words))
    return refusedCredentials;
  if (/timed? ?out|connection|unable to connect|network/i.test(words)) return unavailable;
  return undefined;
}
