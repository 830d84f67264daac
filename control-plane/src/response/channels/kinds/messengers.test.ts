import t from 'tap';
import { answered } from '../testing/answered.ts';
import { hostileMessage, hostileTexts, longMessage, sampleMessage } from '../testing/messages.ts';
import { line } from './line.ts';
import { matrix } from './matrix.ts';
import { messenger } from './messenger.ts';
import { signal } from './signal.ts';
import { whatsapp } from './whatsapp.ts';
import { zulip } from './zulip.ts';

const longest = ['a', 'я', '商', '𝕊', '<'].map((character) => longMessage(character));
const hostile = hostileTexts.map((text) => hostileMessage(text));

void t.test('Telegram: a topic by its number, and "General" by none', async (t) => {
  const settings = () => ({ bot_token: '7654321:messenger-own-bot-token-credential' });
  const answer = { status: 200, json: { ok: true, result: { message_id: 9 } } };
  for (const [target, topic] of [
    ['-1001234567890', undefined],
    ['-1001234567890:1', undefined],
    ['-1001234567890:17', 17],
  ] as const) {
    const { seen } = await answered(t, messenger, { settings, target, answer });
    const sent = JSON.parse(seen[0]?.text ?? '{}') as { chat_id?: number; message_thread_id?: number };
    t.same([sent.chat_id, sent.message_thread_id], [-1_001_234_567_890, topic], target);
  }
  for (const words of [
    'CHANNEL_PRIVATE',
    'message thread not found',
    'TOPIC_CLOSED',
    'have no rights to send a message',
  ]) {
    const refused = { status: 400, json: { ok: false, error_code: 400, description: `Bad Request: ${words}` } };
    const result = await answered(t, messenger, { settings, target: '-1001234567890', answer: refused });
    t.match(result, { ok: false, error: { code: 'unknown_target', fault: 'target' } }, words);
  }
});

void t.test('Matrix: one transaction for a message, and errors by their codes', async (t) => {
  const trial = {
    settings: (baseUrl: string) => ({ homeserver_url: `${baseUrl}/`, access_token: 'mx-secret-token' }),
    target: '!room:example.org',
  };
  const sent = await answered(t, matrix, { ...trial, answer: { status: 200, json: { event_id: '$e1' } } });
  t.match(sent, { ok: true, delivered: { reference: '$e1' } });
  t.match(sent.seen, [
    {
      method: 'PUT',
      path: '/_matrix/client/v3/rooms/!room%3Aexample.org/send/m.room.message/n-17-1',
      headers: { authorization: 'Bearer mx-secret-token' },
      json: { msgtype: 'm.text', format: 'org.matrix.custom.html', 'm.mentions': {} },
    },
  ]);
  for (const [status, json, error] of [
    [403, { errcode: 'M_FORBIDDEN', error: 'not in room' }, { code: 'unknown_target', fault: 'target' }],
    [
      401,
      { errcode: 'M_UNKNOWN_TOKEN', error: 'mx-secret-token' },
      { code: 'refused_credentials', fault: 'configuration' },
    ],
    [429, { errcode: 'M_LIMIT_EXCEEDED', retry_after_ms: 2500 }, { code: 'rate_limited', retryAfterMs: 2500 }],
    [413, { errcode: 'M_TOO_LARGE' }, { code: 'refused_message' }],
    [502, {}, { code: 'service_unavailable' }],
  ] as const) {
    const result = await answered(t, matrix, { ...trial, answer: { status, json } });
    t.match(result, { ok: false, error }, `${status}`);
    t.notMatch(result.ok ? '' : result.error.message, 'mx-secret-token');
  }
  const settings = matrix.settings.parse(trial.settings('https://matrix.example.org'));
  for (const message of [...longest, ...hostile]) {
    const content = matrix.render(message, settings, trial.target) as { formatted_body: string };
    t.ok(Buffer.byteLength(JSON.stringify(content)) < 60_000);
    t.notMatch(content.formatted_body, /<(script|img|a href="https:\/\/evil)|\n/);
  }
  t.notOk(matrix.target.parse('#room:example.org', settings).ok);
});

void t.test('Zulip: channels with topics, people, and its codes', async (t) => {
  const trial = {
    settings: (baseUrl: string) => ({ site_url: baseUrl, bot_email: 'bot@example.com', api_key: 'zulip-api-key' }),
    target: '#operations > Web shop',
  };
  const sent = await answered(t, zulip, { ...trial, answer: { status: 200, json: { result: 'success', id: 42 } } });
  t.match(sent, { ok: true, delivered: { reference: '42' } });
  t.equal(sent.seen[0]?.path, '/api/v1/messages');
  t.match(Object.fromEntries(sent.seen[0]?.form ?? []), { type: 'stream', to: 'operations', topic: 'Web shop' });
  t.equal(
    sent.seen[0]?.headers['authorization'],
    `Basic ${Buffer.from('bot@example.com:zulip-api-key').toString('base64')}`,
  );
  for (const [name, to] of [
    ['2024', '"2024"'],
    ['null', '"null"'],
    ['"quoted"', '"\\"quoted\\""'],
    ['web 2024', 'web 2024'],
  ] as const) {
    const { seen } = await answered(t, zulip, { ...trial, target: `#${name}` });
    t.equal(seen[0]?.form.get('to'), to, `the channel named ${name}`);
  }
  const person = await answered(t, zulip, {
    ...trial,
    target: 'Ann@Example.com',
    answer: { status: 200, json: { result: 'success' } },
  });
  t.match(Object.fromEntries(person.seen[0]?.form ?? []), { type: 'direct', to: '["ann@example.com"]' });
  for (const [status, json, error] of [
    [400, { result: 'error', code: 'STREAM_DOES_NOT_EXIST' }, { code: 'unknown_target' }],
    [400, { result: 'error', code: 'BAD_REQUEST', msg: "Invalid email 'a@b.c'" }, { code: 'unknown_target' }],
    [400, { result: 'error', code: 'BAD_REQUEST', msg: 'Message must not be empty' }, { code: 'refused_message' }],
    [401, { result: 'error', code: 'UNAUTHORIZED' }, { code: 'refused_credentials', fault: 'configuration' }],
    [
      429,
      { result: 'error', code: 'RATE_LIMIT_HIT', 'retry-after': 28.7 },
      { code: 'rate_limited', retryAfterMs: 28_700 },
    ],
  ] as const) {
    t.match(
      await answered(t, zulip, { ...trial, answer: { status, json } }),
      { ok: false, error },
      `${status} ${json.code}`,
    );
  }
  const settings = zulip.settings.parse(trial.settings('https://z.example.com'));
  for (const message of [...longest, ...hostile]) {
    const { content, topic } = zulip.render(message, settings, '#operations') as { content: string; topic: string };
    t.ok(Array.from(content).length <= 10_000 && Array.from(topic).length <= 60 && topic !== '');
    t.notMatch(content, /@\*\*|\]\(https:\/\/evil/);
  }
});

void t.test('Signal: people and groups, and sentences of signal-cli', async (t) => {
  const trial = {
    settings: (baseUrl: string) => ({
      api_url: baseUrl,
      number: '+4915100000000',
      username: 'u',
      password: 'signal-pass',
    }),
    target: '+49 151 2345-6789',
  };
  const sent = await answered(t, signal, { ...trial, answer: { status: 201, json: { timestamp: '1772330400000' } } });
  t.match(sent, { ok: true, delivered: { reference: '1772330400000' } });
  t.match(sent.seen, [
    { path: '/v2/send', json: { number: '+4915100000000', recipients: ['+4915123456789'], text_mode: 'normal' } },
  ]);
  for (const [status, words, error] of [
    [400, 'Failed to send message: Unregistered user +49', { code: 'unknown_target', fault: 'target' }],
    [400, 'User +4915123456789 is not registered.', { code: 'unknown_target', fault: 'target' }],
    [400, 'User +4915100000000 is not registered.', { code: 'refused_credentials', fault: 'configuration' }],
    [
      400,
      'Invalid account (phone number), make sure you include the country code.',
      { code: 'refused_credentials', fault: 'configuration' },
    ],
    [400, 'Specified account does not exist', { code: 'refused_credentials', fault: 'configuration' }],
    [400, 'something else', { code: 'refused_message' }],
    [429, 'rate limited', { code: 'rate_limited', fault: 'passing' }],
  ] as const) {
    t.match(
      await answered(t, signal, { ...trial, answer: { status, json: { error: words } } }),
      { ok: false, error },
      words,
    );
  }
  const group = { ...trial, target: 'group.UkFCVitIRXdYSm5rQnRSTDZCbWEvVzlIZkIrWjU5WCtuRGNsV2dZTUZlOD0=' };
  const missed = 'Failed to send (some) messages:\n5f1c: Unregistered user "5f1c"\n1780698557041\n';
  t.ok((await answered(t, signal, { ...group, answer: { status: 400, json: { error: missed } } })).ok, 'others got it');
  t.match(
    await answered(t, signal, { ...group, answer: { status: 400, json: { error: 'Invalid group id' } } }),
    { ok: false, error: { code: 'unknown_target', fault: 'target' } },
    'a group that is none',
  );
  t.match(
    await answered(t, signal, { ...trial, answer: { status: 400, json: { error: missed } } }),
    { ok: false, error: { code: 'unknown_target', fault: 'target' } },
    'a person who has left Signal',
  );
  const settings = signal.settings.parse(trial.settings('https://signal.example.com'));
  for (const message of longest) {
    const { message: text } = signal.render(message, settings, '+4915123456789') as { message: string };
    t.ok(Buffer.byteLength(text) <= 2000);
  }
  t.equal(signal.target.mask('+4915123456789'), '…6789');
});

void t.test('WhatsApp: the template where there is one, and errors by their numbers', async (t) => {
  const trial = {
    settings: () => ({ phone_number_id: '106540352242922', access_token: 'wa-secret-token', template_name: 'alert' }),
    target: '+4915123456789',
  };
  const sent = await answered(t, whatsapp, {
    ...trial,
    answer: { status: 200, json: { messages: [{ id: 'wamid.X' }] } },
  });
  t.match(sent, { ok: true, delivered: { reference: 'wamid.X' } });
  t.match(sent.seen, [
    {
      path: '/v23.0/106540352242922/messages',
      json: { to: '4915123456789', type: 'template', template: { name: 'alert', language: { code: 'en' } } },
    },
  ]);
  for (const [status, code, error] of [
    [401, 190, { code: 'refused_credentials', fault: 'configuration' }],
    [400, 33, { code: 'refused_credentials', fault: 'configuration' }],
    [400, 131_037, { code: 'refused_credentials', fault: 'configuration' }],
    [400, 131_026, { code: 'unknown_target', fault: 'target' }],
    [400, 131_063, { code: 'unknown_target', fault: 'target' }],
    [400, 134_101, { code: 'service_unavailable', fault: 'passing' }],
    [400, 134_102, { code: 'not_configured', fault: 'configuration' }],
    [400, 131_056, { code: 'rate_limited', fault: 'passing' }],
    [404, 132_001, { code: 'not_configured', fault: 'configuration' }],
    [400, 100, { code: 'refused_message', fault: 'message' }],
    [500, 131_000, { code: 'service_unavailable', fault: 'passing' }],
  ] as const) {
    const answer = { status, json: { error: { code, message: 'x' } } };
    t.match(await answered(t, whatsapp, { ...trial, answer }), { ok: false, error }, `${code}`);
  }
  const withTemplate = whatsapp.settings.parse(trial.settings());
  const without = whatsapp.settings.parse({ phone_number_id: '106540352242922', access_token: 'x' });
  type Template = {
    readonly template: {
      readonly components: readonly [{ readonly parameters: readonly { readonly text: string }[] }];
    };
  };
  for (const message of [...longest, ...hostile, sampleMessage({ summary: '', links: [] })]) {
    const { template } = whatsapp.render(message, withTemplate, '+4915123456789') as Template;
    const texts = template.components[0].parameters.map(({ text }) => text);
    t.ok(
      texts.length === 3 &&
        texts.join('').length <= 1000 &&
        texts.every((text) => text !== '' && !/[\n\t]| {4}/.test(text)),
    );
    const { text } = whatsapp.render(message, without, '+4915123456789') as { text: { body: string } };
    t.ok(text.body.length <= 4096);
  }
});

void t.test('LINE: a repetition is the same to it, and its 409 is a success', async (t) => {
  const trial = {
    settings: () => ({ channel_access_token: 'line-secret-token' }),
    target: `U${'0a'.repeat(16)}`,
  };
  const first = await answered(t, line, {
    ...trial,
    answer: { status: 200, json: { sentMessages: [{ id: '461230966842064897' }] } },
  });
  const again = await answered(t, line, {
    ...trial,
    answer: { status: 409, json: { message: 'The retry key is already accepted' } },
  });
  t.match(first, { ok: true, delivered: { reference: '461230966842064897' } });
  t.ok(again.ok);
  t.equal(first.seen[0]?.headers['x-line-retry-key'], again.seen[0]?.headers['x-line-retry-key']);
  t.equal(first.seen[0]?.text, again.seen[0]?.text);
  for (const [status, message, error] of [
    [
      400,
      "The property, 'to', in the request body is invalid (line: -, column: -)",
      { code: 'unknown_target', fault: 'target' },
    ],
    [400, 'Failed to send messages', { code: 'unknown_target', fault: 'target' }],
    [400, 'The request body has 1 error(s)', { code: 'refused_message' }],
    [401, 'Authentication failed', { code: 'refused_credentials', fault: 'configuration' }],
    [429, 'You have reached your monthly limit.', { code: 'rate_limited', fault: 'passing' }],
  ] as const) {
    t.match(
      await answered(t, line, { ...trial, answer: { status, json: { message } } }),
      { ok: false, error },
      message,
    );
  }
  for (const message of longest) {
    const { messages } = line.render(message, line.settings.parse(trial.settings()), trial.target) as {
      messages: [{ text: string }];
    };
    t.ok(messages[0].text.length <= 5000);
  }
});
