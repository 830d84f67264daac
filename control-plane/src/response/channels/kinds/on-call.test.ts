import t from 'tap';
import { answered } from '../testing/answered.ts';
import { hostileMessage, longMessage, resolvedMessage, sampleMessage } from '../testing/messages.ts';
import { gitlabAlert } from './gitlab-alert.ts';
import { ilert } from './ilert.ts';
import { incidentIo } from './incident-io.ts';
import { pagertree } from './pagertree.ts';
import { signl4 } from './signl4.ts';
import { squadcast } from './squadcast.ts';

// The smaller services that keep alarms, side by side: what they are asked for, and what of their answers is their own.

const at = { key: 'sre', name: 'SRE' };
const target = 'sre';
const acknowledged = sampleMessage({ kind: 'acknowledged' });
const alarms = [sampleMessage(), acknowledged, resolvedMessage()];

void t.test('incident.io fires and resolves under one key', async (t) => {
  const token = 'io-token-5c1d';
  const trial = {
    settings: () => ({ destinations: [{ ...at, alert_source_config_id: '01GW2G3V0S59R238FAHPDS1R66', token }] }),
    target,
  };
  const settings = incidentIo.settings.parse(trial.settings());
  t.match(
    alarms.map((message) => incidentIo.render(message, settings, target)),
    [
      { status: 'firing', deduplication_key: 'incident:17' },
      { status: 'firing' },
      { status: 'resolved', deduplication_key: 'incident:17' },
    ],
  );
  const described = incidentIo.render(hostileMessage('[a](https://evil.example/)'), settings, target)['description'];
  t.notMatch(described, '[a](https', 'the description is Markdown');
  const { seen } = await answered(t, incidentIo, { ...trial, answer: { status: 202, json: { status: 'success' } } });
  t.match(seen, [
    { path: '/v2/alert_events/http/01GW2G3V0S59R238FAHPDS1R66', headers: { authorization: `Bearer ${token}` } },
  ]);
  const now = Date.UTC(2026, 2, 1, 2);
  const rate_limit = { name: 'api_key_name', limit: 1200, remaining: 0, retry_after: 'Sun, 01 Mar 2026 02:00:09 UTC' };
  const throttled = { status: 429, json: { type: 'too_many_requests', status: 429, rate_limit, errors: [] } };
  t.match(await answered(t, incidentIo, { ...trial, now: () => now, answer: throttled }), {
    ok: false,
    error: { code: 'rate_limited', fault: 'passing', retryAfterMs: 9000 },
  });
  const answer = { status: 422, json: { type: 'validation_error', errors: [{ message: `title of ${token}` }] } };
  const refused = await answered(t, incidentIo, { ...trial, answer });
  t.match(refused, { ok: false, error: { code: 'refused_message', message: /title of \*\*\*/ } });
});

void t.test('Squadcast triggers and resolves an event, in at most 30 kB', async (t) => {
  const trial = {
    settings: (baseUrl: string) => ({ destinations: [{ ...at, url: `${baseUrl}/v2/incidents/api/sq0123456789` }] }),
    target,
  };
  const settings = squadcast.settings.parse(trial.settings('https://api.squadcast.com'));
  t.match(
    alarms.map((message) => squadcast.render(message, settings, target)),
    [
      { status: 'trigger', event_id: 'incident:17', priority: 'P1' },
      { status: 'trigger' },
      { status: 'resolve', event_id: 'incident:17' },
    ],
  );
  for (const character of ['"', 'ж', '👩‍👩‍👧‍👦', '\n']) {
    const body = JSON.stringify(squadcast.render(longMessage(character), settings, target));
    t.ok(Buffer.byteLength(body) < 30_000);
  }
  const refused = await answered(t, squadcast, { ...trial, answer: { status: 413 } });
  t.match(refused, { ok: false, error: { code: 'refused_message', fault: 'message' } });
  const gone = await answered(t, squadcast, { ...trial, answer: { status: 401, text: 'no /sq0123456789' } });
  t.match(gone, { ok: false, error: { code: 'refused_credentials', fault: 'target' } });
});

void t.test(
  'PagerTree creates, acknowledges and resolves; a switched-off integration is a target that is gone',
  async (t) => {
    const trial = {
      settings: (baseUrl: string) => ({ destinations: [{ ...at, url: `${baseUrl}/integration/int_abcdefgh` }] }),
      target,
    };
    const settings = pagertree.settings.parse(trial.settings('https://api.pagertree.com'));
    t.match(
      alarms.map((message) => pagertree.render(message, settings, target)),
      [
        { event_type: 'create', id: 'incident:17', dedup_keys: ['incident:17'], urgency: 'critical' },
        { event_type: 'acknowledge' },
        { event_type: 'resolve' },
      ],
    );
    const off = await answered(t, pagertree, { ...trial, answer: { status: 405 } });
    t.match(off, { ok: false, error: { code: 'unknown_target', fault: 'target' } });
    const unpaid = await answered(t, pagertree, { ...trial, answer: { status: 402 } });
    t.match(unpaid, { ok: false, error: { code: 'refused_credentials', fault: 'target' } });
    t.notOk('pagertree-token' in (unpaid.seen[0]?.headers ?? {}), 'no token where none is set');
  },
);

void t.test('ilert alerts, accepts and resolves; a wrong key is told from a wrong event', async (t) => {
  const trial = { settings: () => ({ destinations: [{ ...at, integration_key: 'il1api0123456789' }] }), target };
  const settings = ilert.settings.parse(trial.settings());
  t.match(
    alarms.map((message) => ilert.render(message, settings, target)),
    [
      { eventType: 'ALERT', alertKey: 'incident:17', priority: 'HIGH' },
      { eventType: 'ACCEPT' },
      { eventType: 'RESOLVE' },
    ],
  );
  const refuse = (message: string) => ({ status: 400, json: { message } });
  const wrongKey = await answered(t, ilert, { ...trial, answer: refuse('integration key is invalid') });
  t.match(wrongKey, { ok: false, error: { code: 'refused_credentials', fault: 'target' } });
  const wrongEvent = await answered(t, ilert, { ...trial, answer: refuse('summary is missing') });
  t.match(wrongEvent, { ok: false, error: { code: 'refused_message' } });
});

void t.test('SIGNL4 is told a status under an external id', async (t) => {
  const trial = { settings: () => ({ destinations: [{ ...at, team_secret: 's4secret/01' }] }), target };
  const settings = signl4.settings.parse(trial.settings());
  t.match(
    alarms.map((message) => signl4.render(message, settings, target)),
    [
      { 'X-S4-Status': 'new', 'X-S4-ExternalID': 'incident:17' },
      { 'X-S4-Status': 'acknowledged' },
      { 'X-S4-Status': 'resolved' },
    ],
  );
  const { seen } = await answered(t, signl4, trial);
  t.match(seen, [{ method: 'POST', path: '/webhook/s4secret%2F01' }]);
});

void t.test('GitLab resolves by an end, and gets only severities that it knows', async (t) => {
  const trial = {
    settings: (baseUrl: string) => ({
      destinations: [
        { ...at, url: `${baseUrl}/acme/ops/alerts/notify/http/0123.json`, authorization_key: 'gl-key-77' },
      ],
    }),
    target,
  };
  const settings = gitlabAlert.settings.parse(trial.settings('https://gitlab.com'));
  const rendered = alarms.map((message) => gitlabAlert.render(message, settings, target));
  t.match(rendered, [
    { fingerprint: 'incident:17', severity: 'critical', hosts: ['Shop'] },
    { severity: 'critical' },
    { fingerprint: 'incident:17', end_time: '2026-03-01T02:04:00.000Z' },
  ]);
  t.notOk('end_time' in (rendered[0] ?? {}) || 'end_time' in (rendered[1] ?? {}));
  const hostile = gitlabAlert.render(hostileMessage('@all [a](https://evil.example/)'), settings, target);
  t.notMatch(hostile['description'], '@all');
  const long = gitlabAlert.render(longMessage('ж'), settings, target);
  t.ok(String(long['description']).length <= 1000 && String(long['title']).length <= 200);
  const sent = await answered(t, gitlabAlert, { ...trial, answer: { status: 200, json: [{ iid: 4, title: 'Shop' }] } });
  t.match(sent, { ok: true, delivered: { reference: '4' } });
  t.match(sent.seen, [{ headers: { authorization: 'Bearer gl-key-77' } }]);
});
