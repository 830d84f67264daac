import t from 'tap';
import { answered } from '../testing/answered.ts';
import { longMessage, resolvedMessage, sampleMessage } from '../testing/messages.ts';
import { pagerduty } from './pagerduty.ts';

const key = 'pd0123456789abcdef0123456789abcd';
const trial = { settings: () => ({ destinations: [{ key: 'web', name: 'Web', routing_key: key }] }), target: 'web' };
const settings = pagerduty.settings.parse(trial.settings());

void t.test('an alarm is triggered, acknowledged and resolved under one key', (t) => {
  const rendered = [
    sampleMessage(),
    sampleMessage({ kind: 'reminder', severity: 'minor' }),
    sampleMessage({ kind: 'acknowledged' }),
    resolvedMessage(),
    sampleMessage({ kind: 'information', state: 'information' }),
  ].map((message) => pagerduty.render(message, settings, 'web'));
  t.match(rendered, [
    { event_action: 'trigger', dedup_key: 'incident:17', payload: { severity: 'critical', source: 'Shop' } },
    { event_action: 'trigger', dedup_key: 'incident:17', payload: { severity: 'warning' } },
    { event_action: 'acknowledge', dedup_key: 'incident:17' },
    { event_action: 'resolve', dedup_key: 'incident:17' },
    { event_action: 'trigger', payload: { severity: 'info' } },
  ]);
  t.end();
});

void t.test('the longest message is taken', (t) => {
  const event = JSON.stringify(pagerduty.render(longMessage('👩‍👩‍👧‍👦'), settings, 'web'));
  t.ok(Buffer.byteLength(event) < 512_000, 'of at most 512 kB');
  t.end();
});

void t.test('a key that no integration has is told from an event that is wrong', async (t) => {
  const refuse = (errors: readonly string[]) => ({
    status: 400,
    json: { status: 'invalid event', message: 'Event object is invalid', errors },
  });
  for (const words of ['Invalid routing key', "Length of 'routing_key' is incorrect (should be 32 characters)"]) {
    const wrongKey = await answered(t, pagerduty, { ...trial, answer: refuse([words]) });
    t.match(wrongKey, { ok: false, error: { code: 'refused_credentials', fault: 'target' } }, words);
  }
  const wrongEvent = await answered(t, pagerduty, { ...trial, answer: refuse([`'payload.source' ${key}`]) });
  t.match(wrongEvent, { ok: false, error: { code: 'refused_message', fault: 'message' } });
  t.notMatch(wrongEvent.ok ? '' : wrongEvent.error.message, key);
});

void t.test('accounts in Europe have a host of their own, unless the operator has set one', async (t) => {
  const europe = pagerduty.settings.parse({ ...trial.settings(), region: 'eu' });
  const urlFor = async (baseUrl: string) => {
    let url = '';
    const request = async (outgoing: { readonly url: string }) => {
      url = outgoing.url;
      return { status: 202, headers: {}, text: '', json: {} };
    };
    const message = sampleMessage();
    const io = { request, baseUrl, now: () => 0 } as unknown as Parameters<typeof pagerduty.send>[2];
    await pagerduty.send(pagerduty.render(message, europe, 'web'), { settings: europe, target: 'web', message }, io);
    return url;
  };
  t.equal(await urlFor(pagerduty.baseUrl ?? ''), 'https://events.eu.pagerduty.com/v2/enqueue');
  t.equal(await urlFor('http://relay.example'), 'http://relay.example/v2/enqueue');
});
