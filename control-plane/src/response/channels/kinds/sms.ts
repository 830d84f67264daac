import { z } from 'zod';
import { asShort } from '../../messages/index.ts';
import type { Channel } from '../channel.ts';
import { phoneNumber } from './shared/phone-number.ts';
import { segments } from './shared/segments.ts';
import { createAtTwilio, twilioAccount } from './shared/twilio.ts';

const settings = z.strictObject({
  ...twilioAccount,
  from: z
    .string()
    .regex(
      /^(\+[1-9]\d{7,14}|MG[0-9a-f]{32}|(?=.*[A-Za-z])[A-Za-z0-9 ]{1,11})$/,
      'must be a number in E.164, a Messaging Service SID, or a sender id of 1 to 11 letters and digits',
    )
    .describe('Number, Messaging Service SID (MG…) or alphanumeric sender id that sends.'),
  segments,
});
type Settings = z.infer<typeof settings>;

/** Short messages by Twilio. Twilio takes 1,600 characters; six segments are fewer. */
export const sms: Channel<Settings> = {
  name: 'sms',
  title: 'SMS (Twilio)',
  documentation: 'https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource',
  setup:
    'In the Twilio console copy the Account SID and the auth token, and buy a number or make a Messaging Service. A trial account reaches only numbers that were verified there.',
  settings,
  secrets: ['auth_token'],
  target: phoneNumber,
  baseUrl: 'https://api.twilio.com',
  render: (message, { from, segments }, target) => ({
    To: target,
    ...(from.startsWith('MG') && from.length === 34 ? { MessagingServiceSid: from } : { From: from }),
    Body: asShort(message, segments),
  }),
  send: (content, { settings }, io) => createAtTwilio(io, settings, 'Messages', content as Record<string, string>),
};
