import t from 'tap';
import { segmentsOf } from '../../messages/index.ts';
import { answered } from '../testing/answered.ts';
import { hostileMessage, hostileTexts, longMessage, sampleMessage } from '../testing/messages.ts';
import { parsePhoneNumber } from './shared/phone-number.ts';
import { sms } from './sms.ts';
import { voice } from './voice.ts';
import { vonage } from './vonage.ts';

const account = { account_sid: `AC${'0'.repeat(32)}`, auth_token: 'twilio-auth-secret' };
const target = '+4915123456789';
const longest = ['a', 'я', '商', '𝕊', '&'].map((character) => longMessage(character));

void t.test('telephone numbers are read as people write them', async (t) => {
  for (const text of ['+4915123456789', ' +49 151 23456789', '+49 (151) 234-567-89', '+49.151.23456789']) {
    t.same(parsePhoneNumber(text), { ok: true, target }, text);
  }
  for (const text of ['', '015123456789', '+0151234567', '+49151234567891234', '+49abc12345678', '++4915123456789']) {
    t.notOk(parsePhoneNumber(text).ok, text);
  }
});

void t.test('short messages by Twilio: segments that are paid for, and errors by their numbers', async (t) => {
  const trial = { settings: () => ({ ...account, from: '+15005550006', segments: 2 }), target };
  const sent = await answered(t, sms, { ...trial, answer: { status: 201, json: { sid: 'SM123' } } });
  t.match(sent, { ok: true, delivered: { reference: 'SM123' } });
  t.equal(sent.seen[0]?.path, `/2010-04-01/Accounts/${account.account_sid}/Messages.json`);
  t.match(Object.fromEntries(sent.seen[0]?.form ?? []), { To: target, From: '+15005550006', Body: /Shop is down/ });
  for (const [status, code, error] of [
    [400, 21_211, { code: 'unknown_target', fault: 'target' }],
    [400, 21_610, { code: 'unknown_target', fault: 'target' }],
    [400, 21_606, { code: 'not_configured', fault: 'configuration' }],
    [400, 21_704, { code: 'not_configured', fault: 'configuration' }],
    [400, 10_001, { code: 'refused_credentials', fault: 'configuration' }],
    [401, 20_003, { code: 'refused_credentials', fault: 'configuration' }],
    [429, 20_429, { code: 'rate_limited', fault: 'passing' }],
    [400, 21_617, { code: 'refused_message', fault: 'message' }],
    [503, undefined, { code: 'service_unavailable', fault: 'passing' }],
  ] as const) {
    const answer = { status, json: { code, message: `twilio-auth-secret ${code}` } };
    const result = await answered(t, sms, { ...trial, answer });
    t.match(result, { ok: false, error }, `${code}`);
    t.notMatch(result.ok ? '' : result.error.message, 'twilio-auth-secret');
  }
  for (const message of longest) {
    const { Body } = sms.render(message, sms.settings.parse(trial.settings()), target) as { Body: string };
    t.ok(segmentsOf(Body) <= 2 && Body.length <= 1600);
  }
  const service = sms.settings.parse({ ...trial.settings(), from: `MG${'1'.repeat(32)}` });
  t.match(sms.render(sampleMessage(), service, target), { MessagingServiceSid: `MG${'1'.repeat(32)}` });
});

void t.test('calls by Twilio: TwiML within its limit, in the language of the message', async (t) => {
  const trial = { settings: () => ({ ...account, from: '+15005550006' }), target };
  const sent = await answered(t, voice, { ...trial, answer: { status: 201, json: { sid: 'CA123' } } });
  t.match(sent, { ok: true, delivered: { reference: 'CA123' } });
  const form = Object.fromEntries(sent.seen[0]?.form ?? []) as Record<string, string>;
  t.equal(sent.seen[0]?.path, `/2010-04-01/Accounts/${account.account_sid}/Calls.json`);
  t.match(
    form['Twiml'],
    '<Say language="en-US">Shop is down. Three of three probes get no answer from shop.example.com</Say>',
  );
  const settings = voice.settings.parse(trial.settings());
  t.match(
    (voice.render(sampleMessage({ locale: 'ru' }), settings, target) as { Twiml: string }).Twiml,
    'language="ru-RU"',
  );
  for (const message of [...longest, ...hostileTexts.map((text) => hostileMessage(text))]) {
    const { Twiml } = voice.render(message, settings, target) as { Twiml: string };
    t.ok(Twiml.length <= 4000);
    t.notMatch(
      Twiml.replaceAll(/<\/?(Response|Say|Pause)\b[^<>]*>|<\?xml[^<>]*>/g, ''),
      /[<>]|&(?!amp;|lt;|gt;|quot;|#39;)/,
    );
  }
});

void t.test('short messages by Vonage: problems by type and by parameter', async (t) => {
  const trial = { settings: () => ({ api_key: 'abcd1234', api_secret: 'vonage-secret', from: 'Parallax' }), target };
  const sent = await answered(t, vonage, { ...trial, answer: { status: 202, json: { message_uuid: 'aaaa-bbbb' } } });
  t.match(sent, { ok: true, delivered: { reference: 'aaaa-bbbb' } });
  t.match(sent.seen, [
    { path: '/v1/messages', json: { message_type: 'text', channel: 'sms', to: '4915123456789', from: 'Parallax' } },
  ]);
  const type = 'https://developer.vonage.com/api-errors/messages#';
  const general = 'https://developer.vonage.com/api-errors#';
  for (const [status, json, error] of [
    [401, { title: 'Unauthorized' }, { code: 'refused_credentials', fault: 'configuration' }],
    [422, { type: `${type}1120` }, { code: 'not_configured', fault: 'configuration' }],
    [422, { invalid_parameters: [{ name: 'to', reason: 'x' }] }, { code: 'unknown_target', fault: 'target' }],
    [429, { type: `${type}1000` }, { code: 'rate_limited', fault: 'passing' }],
    [422, { type: `${type}1430` }, { code: 'unknown_target', fault: 'target' }],
    [422, { type: `${type}1030` }, { code: 'service_unavailable', fault: 'passing' }],
    [422, { type: `${type}1020` }, { code: 'refused_message', fault: 'message' }],
    [403, { type: `${general}account-suspended` }, { code: 'refused_credentials', fault: 'configuration' }],
    // Without credit nothing is sent to anybody.
    [403, { type: `${general}low-balance` }, { code: 'not_configured', fault: 'configuration' }],
    [402, { title: 'Low balance' }, { code: 'not_configured', fault: 'configuration' }],
  ] as const) {
    t.match(
      await answered(t, vonage, { ...trial, answer: { status, json } }),
      { ok: false, error },
      JSON.stringify(json),
    );
  }
  for (const message of longest) {
    const { text } = vonage.render(message, vonage.settings.parse(trial.settings()), target) as { text: string };
    t.ok(segmentsOf(text) <= 2 && text.length <= 1000);
  }
});
