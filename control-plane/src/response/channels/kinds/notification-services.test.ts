import t from 'tap';
import { answered } from '../testing/answered.ts';
import { longMessage, resolvedMessage, sampleMessage } from '../testing/messages.ts';
import { bark } from './bark.ts';
import { gotify } from './gotify.ts';
import { ntfy } from './ntfy.ts';
import { pushbullet } from './pushbullet.ts';
import { pushover } from './pushover.ts';

const longest = ['a', 'я', '商', '𝕊', '"', '\\', '<', '&'].map((character) => longMessage(character));

void t.test('ntfy: JSON to the root, a topic of its own refuses only itself', async (t) => {
  const trial = {
    settings: (baseUrl: string) => ({ server_url: baseUrl, access_token: 'tk_ntfy_secret' }),
    target: 'shop-8c1f2a',
  };
  const sent = await answered(t, ntfy, { ...trial, answer: { status: 200, json: { id: 'sPs71M8A2T' } } });
  t.match(sent, { ok: true, delivered: { reference: 'sPs71M8A2T' } });
  t.match(sent.seen, [
    {
      path: '/',
      headers: { authorization: 'Bearer tk_ntfy_secret' },
      json: { topic: 'shop-8c1f2a', title: 'Shop is down', priority: 5, tags: ['rotating_light'] },
    },
  ]);
  for (const [status, code, error] of [
    [401, 40_101, { code: 'refused_credentials', fault: 'configuration' }],
    [403, 40_301, { code: 'refused_credentials', fault: 'target' }],
    [400, 40_010, { code: 'unknown_target', fault: 'target' }],
    [400, 40_018, { code: 'refused_message', fault: 'message' }],
    [429, 42_901, { code: 'rate_limited', fault: 'passing' }],
  ] as const) {
    const answer = { status, json: { code, http: status, error: 'about shop-8c1f2a' } };
    const result = await answered(t, ntfy, { ...trial, answer });
    t.match(result, { ok: false, error }, `${code}`);
    t.notMatch(result.ok ? '' : result.error.message, 'shop-8c1f2a');
  }
  for (const message of longest) {
    const content = ntfy.render(message, ntfy.settings.parse({}), 'x') as {
      message: string;
      title: string;
      actions: unknown[];
    };
    t.ok(Buffer.byteLength(content.message) <= 4096 && content.actions.length <= 3);
    t.ok(Buffer.byteLength(JSON.stringify(content)) <= 8192, 'a body that servers take');
  }
  const links = [3_000, 450].map((length) => ({
    purpose: 'snooze' as const,
    label: '"'.repeat(200),
    url: `https://monitor.example.com/${'a'.repeat(length)}`,
  }));
  const { actions } = ntfy.render(sampleMessage({ links }), ntfy.settings.parse({}), 'x') as {
    actions: readonly { readonly url: string }[];
  };
  t.same(
    actions.map(({ url }) => url),
    [links[1]?.url],
    'an address that has no room is left out, whole',
  );
});

void t.test('Gotify: the token of an application, in a header', async (t) => {
  const trial = {
    settings: (baseUrl: string) => ({
      server_url: `${baseUrl}/gotify/`,
      destinations: [{ key: 'ann', name: 'Ann', token: 'AppTokenSecret' }],
    }),
    target: 'ann',
  };
  const sent = await answered(t, gotify, { ...trial, answer: { status: 200, json: { id: 25 } } });
  t.match(sent, { ok: true, delivered: { reference: '25' } });
  t.match(sent.seen, [
    { path: '/gotify/message', headers: { 'x-gotify-key': 'AppTokenSecret' }, json: { priority: 10 } },
  ]);
  const refused = await answered(t, gotify, {
    ...trial,
    answer: { status: 401, json: { errorDescription: 'AppTokenSecret is wrong' } },
  });
  t.match(refused, { ok: false, error: { code: 'refused_credentials', fault: 'target' } });
  t.notMatch(refused.ok ? '' : refused.error.message, 'AppTokenSecret');
  const restarting = await answered(t, gotify, { ...trial, answer: { status: 404, text: '404 page not found' } });
  t.match(restarting, { ok: false, error: { code: 'unexpected_status', fault: 'passing' } });
});

void t.test('Pushover: limits, what a 400 names, and the end of emergencies', async (t) => {
  const token = 'a'.repeat(30);
  const trial = { settings: () => ({ api_token: token, emergency: true }), target: `${'u'.repeat(30)}:phone` };
  const ok = { status: 200, json: { status: 1, request: 'r-1', receipt: 'receipt1' } };
  const sent = await answered(t, pushover, { ...trial, answer: ok });
  t.match(sent, { ok: true, delivered: { reference: 'receipt1' } });
  t.match(Object.fromEntries(sent.seen[0]?.form ?? []), {
    token,
    user: 'u'.repeat(30),
    device: 'phone',
    priority: '2',
    retry: '60',
    expire: '3600',
    tags: 'incident:17',
  });
  const over = await answered(t, pushover, { ...trial, message: resolvedMessage(), answer: ok });
  t.same(
    over.seen.map(({ path }) => path),
    ['/1/receipts/cancel_by_tag/incident%3A17.json', '/1/messages.json'],
  );
  for (const [status, json, headers, error] of [
    [
      400,
      { user: 'invalid', errors: ['user identifier is not valid'], status: 0 },
      {},
      { code: 'unknown_target', fault: 'target' },
    ],
    [
      400,
      { token: 'invalid', errors: ['application token is invalid'], status: 0 },
      {},
      { code: 'refused_credentials', fault: 'configuration' },
    ],
    [400, { message: 'cannot be blank', status: 0 }, {}, { code: 'refused_message' }],
    [429, { status: 0 }, { 'x-limit-app-reset': '107' }, { code: 'rate_limited', retryAfterMs: 7000 }],
  ] as const) {
    const result = await answered(t, pushover, { ...trial, now: () => 100_000, answer: { status, json, headers } });
    t.match(result, { ok: false, error }, JSON.stringify(json));
  }
  for (const message of [...longest, sampleMessage({ summary: '', facts: [], sections: [] })]) {
    const { form } = pushover.render(message, pushover.settings.parse(trial.settings()), trial.target);
    t.ok((form['message'] ?? '').length <= 1024 && (form['title'] ?? '').length <= 250 && form['message'] !== '');
  }
});

void t.test('Pushbullet: receivers, one guid for a message, and the end of a rate', async (t) => {
  const trial = { settings: () => ({ access_token: 'o.pushbulletSecret' }), target: 'me' };
  const sent = await answered(t, pushbullet, {
    ...trial,
    answer: { status: 200, json: { iden: 'ujpah72o0sjAoRtnM0jc' } },
  });
  t.match(sent, { ok: true, delivered: { reference: 'ujpah72o0sjAoRtnM0jc' } });
  t.match(sent.seen, [
    {
      path: '/v2/pushes',
      headers: { 'access-token': 'o.pushbulletSecret' },
      json: { type: 'link', guid: /^[0-9a-f-]{36}$/ },
    },
  ]);
  const settings = pushbullet.settings.parse(trial.settings());
  t.match(pushbullet.render(sampleMessage(), settings, 'device:x1'), { device_iden: 'x1' });
  t.match(pushbullet.render(sampleMessage(), settings, 'channel:x2'), { channel_tag: 'x2' });
  t.match(pushbullet.render(sampleMessage({ links: [] }), settings, 'a@example.com'), {
    type: 'note',
    email: 'a@example.com',
  });
  t.equal(pushbullet.target.mask('ann@example.com'), 'a…@example.com');
  for (const [status, json, headers, error] of [
    [
      401,
      { error: { message: 'o.pushbulletSecret is missing' } },
      {},
      { code: 'refused_credentials', fault: 'configuration' },
    ],
    [400, { error: { param: 'device_iden', message: 'x' } }, {}, { code: 'unknown_target', fault: 'target' }],
    [400, { error: { code: 'pushbullet_pro_required' } }, {}, { code: 'rate_limited', fault: 'passing' }],
    [429, {}, { 'x-ratelimit-reset': '160' }, { code: 'rate_limited', retryAfterMs: 60_000 }],
  ] as const) {
    const result = await answered(t, pushbullet, { ...trial, now: () => 100_000, answer: { status, json, headers } });
    t.match(result, { ok: false, error }, `${status}`);
    t.notMatch(result.ok ? '' : result.error.message, 'pushbulletSecret');
  }
});

void t.test('Bark: devices that are not known, and payloads that Apple takes', async (t) => {
  const trial = { settings: (baseUrl: string) => ({ server_url: baseUrl }), target: 'ynJ5Ft4atkMkWeo2PAvFhF' };
  const sent = await answered(t, bark, {
    ...trial,
    answer: { status: 200, json: { code: 200, message: 'success', timestamp: 1 } },
  });
  t.ok(sent.ok);
  t.match(sent.seen, [
    { path: '/push', json: { device_key: trial.target, id: 'n-17-1', level: 'critical', group: 'Shops' } },
  ]);
  for (const [status, json, error] of [
    [
      400,
      { code: 400, message: `failed to get device token: ${trial.target}` },
      { code: 'unknown_target', fault: 'target' },
    ],
    [500, { code: 500, message: 'push failed: BadDeviceToken' }, { code: 'unknown_target', fault: 'target' }],
    [500, { code: 500, message: 'push failed: timeout' }, { code: 'service_unavailable', fault: 'passing' }],
    [200, 'welcome', { code: 'unexpected_answer', fault: 'passing' }],
  ] as const) {
    const result = await answered(t, bark, { ...trial, answer: { status, json } });
    t.match(result, { ok: false, error }, JSON.stringify(json));
    t.notMatch(result.ok ? '' : result.error.message, trial.target);
  }
  for (const message of [...longest, sampleMessage({ title: '<'.repeat(200), summary: '', facts: [], sections: [] })]) {
    const content = bark.render(message, bark.settings.parse({}), trial.target) as { group: string };
    // What the server adds is less than 200 bytes, and the group once more.
    const json = JSON.stringify({ ...content, 'thread-id': content.group }).replaceAll(/[<>&]/g, '\\u0000');
    t.ok(Buffer.byteLength(json) <= 3_896, message.title.slice(0, 3));
  }
});
