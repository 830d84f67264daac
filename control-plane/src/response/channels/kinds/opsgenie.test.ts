import t from 'tap';
import { answered } from '../testing/answered.ts';
import { longMessage, resolvedMessage, sampleMessage } from '../testing/messages.ts';
import { jiraServiceManagement } from './jira-service-management.ts';
import { opsgenie } from './opsgenie.ts';

const key = 'og-3f6c1a52-7be1-4d0c-9a1e-5b8a6c1d2e3f';
const trial = { settings: () => ({ destinations: [{ key: 'sre', name: 'SRE', api_key: key }] }), target: 'sre' };
const settings = opsgenie.settings.parse(trial.settings());
const alias = 'incident%3A17';

void t.test('an alert is created, noted on, acknowledged and closed by its alias', (t) => {
  const rendered = [
    sampleMessage(),
    sampleMessage({ kind: 'reminder' }),
    sampleMessage({ kind: 'updated' }),
    sampleMessage({ kind: 'acknowledged' }),
    resolvedMessage(),
  ].map((message) => opsgenie.render(message, settings, 'sre'));
  t.match(rendered, [
    { path: '', body: { alias: 'incident:17', priority: 'P1', message: 'Shop is down' } },
    { path: '', body: { alias: 'incident:17' } },
    { path: `/${alias}/notes?identifierType=alias` },
    { path: `/${alias}/acknowledge?identifierType=alias` },
    { path: `/${alias}/close?identifierType=alias` },
  ]);
  t.end();
});

void t.test('texts keep the lengths of the fields', (t) => {
  for (const character of ['x', 'ж', '👩‍👩‍👧‍👦']) {
    const { body } = opsgenie.render(longMessage(character), settings, 'sre');
    const { message, description, entity, details } = body as Record<string, string>;
    t.ok((message?.length ?? 0) <= 130 && (description?.length ?? 0) <= 15_000 && (entity?.length ?? 0) <= 512);
    t.ok(
      Object.entries(details ?? {})
        .flat()
        .join('').length <= 8000,
    );
    const note = opsgenie.render(longMessage(character, { kind: 'updated' }), settings, 'sre').body['note'];
    t.ok(String(note).length <= 25_000);
  }
  t.end();
});

void t.test('either service is asked at its own address with the same key', async (t) => {
  const answer = { status: 202, json: { result: 'Request will be processed', took: 0.1, requestId: 'r-1' } };
  const [there] = (await answered(t, opsgenie, { ...trial, answer })).seen;
  t.match(there, { method: 'POST', path: '/v2/alerts', headers: { authorization: `GenieKey ${key}` } });
  const closing = await answered(t, jiraServiceManagement, { ...trial, answer, message: resolvedMessage() });
  t.match(closing, { ok: true, delivered: { reference: 'r-1' } });
  t.match(closing.seen, [
    { path: `/jsm/ops/integration/v2/alerts/${alias}/close`, headers: { authorization: `GenieKey ${key}` } },
  ]);
});

void t.test('an account that does not pay is no fault of the message, and throttling says how long', async (t) => {
  t.match(await answered(t, opsgenie, { ...trial, answer: { status: 402, json: { message: 'Upgrade' } } }), {
    ok: false,
    error: { code: 'refused_credentials', fault: 'target' },
  });
  const headers = { 'X-RateLimit-State': 'THROTTLED', 'X-RateLimit-Period-In-Sec': '60' };
  t.match(await answered(t, opsgenie, { ...trial, answer: { status: 429, headers } }), {
    ok: false,
    error: { code: 'rate_limited', retryAfterMs: 60_000 },
  });
  t.match(await answered(t, opsgenie, { ...trial, answer: { status: 429, headers: { 'retry-after': '5' } } }), {
    ok: false,
    error: { code: 'rate_limited', retryAfterMs: 5000 },
  });
});

void t.test('what is gone over there needs no end', async (t) => {
  const answer = { status: 404, json: { message: 'Alert does not exist' } };
  t.match(await answered(t, opsgenie, { ...trial, answer, message: resolvedMessage() }), { ok: true });
  t.match(await answered(t, opsgenie, { ...trial, answer }), { ok: false, error: { code: 'unknown_target' } });
});
