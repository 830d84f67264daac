import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { answered } from '../testing/answered.ts';
import { hostileMessage, sampleMessage } from '../testing/messages.ts';
import { homeAssistant, withoutTemplates } from './home-assistant.ts';

const token = 'ha-token-0123456789';
const settingsAt = (url: string) => ({ url: `${url}/`, token, webhook_id: 'hook-0123456789' });

void t.test('a notify action is called with the token', async (t) => {
  const trial = { settings: settingsAt, target: 'notify.mobile_app_phone' };
  const { seen } = await answered(t, homeAssistant, trial);
  t.match(seen, [
    {
      path: '/api/services/notify/mobile_app_phone',
      headers: { authorization: `Bearer ${token}` },
      json: { title: 'Shop is down', data: { tag: 'incident:17', priority: 'high' } },
    },
  ]);
  const other = await answered(t, homeAssistant, { ...trial, target: 'Notify.Family' });
  t.equal(other.seen[0]?.path, '/api/services/notify/family');
  t.notMatch(other.seen[0]?.json, { data: {} }, 'data are for the app alone');
  t.match(await answered(t, homeAssistant, { ...trial, answer: { status: 401, text: `401: ${token}` } }), {
    ok: false,
    error: { code: 'refused_credentials', fault: 'configuration' },
  });
  t.match(await answered(t, homeAssistant, { ...trial, answer: { status: 404, text: '404: Not Found' } }), {
    ok: false,
    error: { code: 'unexpected_status', fault: 'passing' },
  });
});

void t.test('a webhook gets facts, and no token', async (t) => {
  const { seen } = await answered(t, homeAssistant, { settings: settingsAt, target: 'webhook' });
  t.match(seen, [{ path: '/api/webhook/hook-0123456789', json: { state: 'problem', subject: 'incident:17' } }]);
  t.notOk(seen[0]?.headers['authorization']);
});

void t.test('a target needs what reaches it', (t) => {
  const read = (settings: object, text: string) =>
    homeAssistant.target.parse(text, homeAssistant.settings.parse({ url: 'https://home.example.com', ...settings }));
  t.ok(read({ token }, 'notify.phone').ok);
  t.notOk(read({ token }, 'webhook').ok);
  t.notOk(read({ webhook_id: 'hook-0123456789' }, 'notify.phone').ok);
  for (const text of ['light.turn_off', 'notify.', 'notify.a/b', 'notify.a?b', ''])
    t.notOk(read({ token }, text).ok, text);
  t.notOk(homeAssistant.settings.safeParse({ url: 'https://home.example.com' }).success);
  t.end();
});

void t.test('an action that takes its 10 seconds is waited for', (t) => {
  t.ok((homeAssistant.timeoutMs ?? 10_000) > 12_000);
  t.end();
});

void t.test('no text opens a template', (t) => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('{', '%', '#', '}', 'x') }),
      (text) => !/\{[{%#]/.test(withoutTemplates(text)),
    ),
  );
  const settings = homeAssistant.settings.parse(settingsAt('https://home.example.com'));
  const { notify } = homeAssistant.render(
    hostileMessage("{{ states('sensor.secret') }} {% x %} {# y #}"),
    settings,
    'notify.phone',
  );
  t.notMatch(JSON.stringify([notify['title'], notify['message']]), /\{[{%#]/);
  t.match(homeAssistant.render(sampleMessage(), settings, 'webhook').event, {
    url: 'https://monitor.example.com/incidents/17',
  });
  t.end();
});
