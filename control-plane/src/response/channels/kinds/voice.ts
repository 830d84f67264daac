import { z } from 'zod';
import type { Message } from '../../messages/index.ts';
import { escapeHtml } from '../../messages/index.ts';
import type { Channel } from '../channel.ts';
import { cut } from './shared/cut.ts';
import { phoneNumber } from './shared/phone-number.ts';
import { createAtTwilio, twilioAccount } from './shared/twilio.ts';

const settings = z.strictObject({
  ...twilioAccount,
  from: z
    .string()
    .regex(/^\+[1-9]\d{7,14}$/, 'must be a number in E.164')
    .describe('Number of the account that calls.'),
});
type Settings = z.infer<typeof settings>;

/** Languages of the voice that speaks. */
const languages = { en: 'en-US', ru: 'ru-RU' } as const;

/** Calls by Twilio: title and summary are read out twice, as whoever is woken misses the first words. TwiML may have 4,000 characters. */
export const voice: Channel<Settings> = {
  name: 'voice',
  title: 'Telephone call (Twilio)',
  documentation: 'https://www.twilio.com/docs/voice/api/call-resource#create-a-call',
  setup:
    'In the Twilio console copy the Account SID and the auth token, and buy a number that can call. Allow the countries you call under "Voice", "Geo permissions".',
  settings,
  secrets: ['auth_token'],
  target: phoneNumber,
  baseUrl: 'https://api.twilio.com',
  render: (message, { from }, target) => ({ To: target, From: from, Twiml: twimlOf(message) }),
  send: (content, { settings }, io) => createAtTwilio(io, settings, 'Calls', content as Record<string, string>),
};

function twimlOf(message: Message): string {
  const escaped = (text: string) => escapeHtml(text).length;
  const words = cut(spoken(`${message.title}. ${message.summary}`), 1700, escaped);
  // Five references of XML are the five that HTML has too, so this escape is one for XML.
  const say = `<Say language="${languages[message.locale]}">${escapeHtml(words)}</Say>`;
  return `<?xml version="1.0" encoding="UTF-8"?><Response><Pause length="1"/>${say}<Pause length="1"/>${say}</Response>`;
}

/** Of an address only the host is worth hearing; isolates have no sound, and what XML does not know must not stand in it. */
function spoken(text: string): string {
  return text
    .replaceAll(/https?:\/\/([^\s/]+)\S*/gi, '$1')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\ufffe\uffff]/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
