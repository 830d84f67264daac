// Written from memory of https://www.twilio.com/docs/messaging/api/message-resource, https://www.twilio.com/docs/voice/api/call-resource and
// https://www.twilio.com/docs/api/errors ("Error and Warning Dictionary"). Checked on 2026-11-23 against pages of the dictionary (10001, 13224, 20429,
// 21217, 21218, 21617, 21658, 21704, 30002, 32018) for the numbers and the lengths of 1,600 and 4,000 characters. That a 429 has `Retry-After`, and the
// form of the answers, are from memory.
import type { Must, SeenRequest, StandIn, StandInAnswer } from '../stand-in.ts';
import { basicOf, isText } from './parts.ts';

const account = 'AC9600112233445566778899aabbccddee';
const token = 'twCredential96abcdefghijklmnopqr';
const sender = '+15005550006';
const recipient = '+14155550196';
const settings = () => ({ account_sid: account, auth_token: token, from: sender });

const refuse = (status: number, code: number, message: string): StandInAnswer => ({
  status,
  json: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status },
});
const troubles: StandIn['troubles'] = {
  refused_credentials: refuse(401, 20_003, 'Authenticate'),
  rate_limited: { ...refuse(429, 20_429, 'Too Many Requests'), headers: { 'retry-after': '7' } },
  service_unavailable: refuse(503, 20_503, 'Service is unavailable'),
};

export const sms: StandIn = {
  channel: 'sms',
  documents: ['https://www.twilio.com/docs/messaging/api/message-resource', 'https://www.twilio.com/docs/api/errors'],
  settings,
  target: recipient,
  handle: (request, must) => {
    checkForm(request, 'Messages', must);
    must(isText(request.form.get('Body'), 1600), 'a body of at most 1,600 characters');
    return {
      status: 201,
      json: {
        sid: 'SM0123456789abcdef0123456789abcdef',
        status: 'queued',
        to: recipient,
        num_segments: '1',
        error_code: null,
      },
    };
  },
  troubles: {
    ...troubles,
    // Not a number, or one that has said STOP (21610).
    unknown_target: refuse(400, 21_211, `The 'To' number ${recipient} is not a valid phone number.`),
    refused_message: refuse(400, 21_617, 'The concatenated message body exceeds the 1600 character limit.'),
  },
  saysHowLong: true,
};

export const voice: StandIn = {
  channel: 'voice',
  documents: ['https://www.twilio.com/docs/voice/api/call-resource', 'https://www.twilio.com/docs/voice/twiml/say'],
  settings,
  target: recipient,
  handle: (request, must) => {
    checkForm(request, 'Calls', must);
    const twiml = request.form.get('Twiml') ?? '';
    must(isText(twiml, 4000), 'TwiML of at most 4,000 characters');
    must(/^(<\?xml[^>]*\?>)?\s*<Response>.*<\/Response>\s*$/s.test(twiml), 'TwiML with the element Response');
    must(/<Say(\s[^<>]*)?>[^<>]+<\/Say>/.test(twiml), 'something to say, without markup');
    must(!/&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-f]+);)/i.test(twiml), 'only entities that XML knows');
    const inner = twiml.replace(/^<\?xml[^>]*\?>/, '').matchAll(/<\/?([A-Za-z]+)/g);
    const verbs = new Set(['Response', 'Say', 'Pause', 'Gather', 'Hangup', 'break', 'prosody', 's', 'p']);
    must(
      [...inner].every(([, name]) => verbs.has(name ?? '')),
      'verbs that only speak',
    );
    return { status: 201, json: { sid: 'CA0123456789abcdef0123456789abcdef', status: 'queued', to: recipient } };
  },
  troubles: {
    ...troubles,
    unknown_target: refuse(400, 21_211, `The phone number you are attempting to call, ${recipient}, is not valid.`),
    refused_message: refuse(400, 32_018, 'Twiml size exceeded maximum allowed value'),
  },
  saysHowLong: true,
};

function checkForm(request: SeenRequest, resource: string, must: Must): void {
  must(
    request.method === 'POST' && request.path === `/2010-04-01/Accounts/${account}/${resource}.json`,
    `POST …/Accounts/{sid}/${resource}.json`,
  );
  must(/^application\/x-www-form-urlencoded\b/.test(request.headers['content-type'] ?? ''), 'a form');
  must(basicOf(request) === `${account}:${token}`, 'sid and token by Basic');
  must(request.form.get('To') === recipient, 'the number, in E.164');
  must(request.form.get('From') === sender, 'the sender');
}
