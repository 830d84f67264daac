import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { compose, samples } from '../messages/index.ts';
import type { NoticeOccasion } from '../messages/index.ts';
import { webhookSecrets } from './bot.ts';
import { clockTime } from './commands/clock-time.ts';
import { commandOf, minutesOf } from './commands/command.ts';
import { fitted } from './commands/fitted.ts';
import { escapeHtml, nameInHtml } from './html.ts';
import { keyboardOf, readButton, writeButton } from './keyboard/index.ts';
import { deepLink } from './links/deep-link.ts';
import { paceAfter } from './pace.ts';
import { offsetOf } from './receiving/lease.ts';
import { parseHtmlStyle } from './testing/html-style.ts';
import { readUpdate } from './updates/incoming.ts';
import { localeOf, wordsOf } from './words/words.ts';

const from = { id: 42, is_bot: false, first_name: 'Ada', language_code: 'ru' };
const said = (text: string, type = 'private') =>
  readUpdate({ update_id: 1, message: { message_id: 1, date: 10, chat: { id: 42, type, title: 'x' }, from, text } })
    ?.incoming;
const command = (text: string, type?: string) => {
  const incoming = said(text, type);
  return incoming?.kind === 'command' ? commandOf(incoming, 'Our_bot') : undefined;
};

void t.test('what people write is read as commands', async (t) => {
  const cases: [text: string, command: unknown][] = [
    ['/status', { kind: 'status' }],
    ['/STATUS@our_BOT now', { kind: 'status' }],
    ['/status@other_bot', null],
    ['/start', { kind: 'help' }],
    ['/start a b', { kind: 'help' }],
    ['/pause  Shop of\nAda ', { kind: 'pause', which: 'Shop of\nAda' }],
    ['/pause', { kind: 'usage', of: 'pause' }],
    ['/resume 7', { kind: 'resume', which: '7' }],
    ['/mute', { kind: 'mute', minutes: 60 }],
    ['/mute 30 мин', { kind: 'mute', minutes: 30 }],
    ['/mute 8d', { kind: 'usage', of: 'mute' }],
    ['/unmute', { kind: 'unmute' }],
    ['/weather', { kind: 'help' }],
    ['hello', { kind: 'help' }],
    ['/', { kind: 'help' }],
  ];
  for (const [text, expected] of cases) t.same(command(text), expected, text);
  t.equal(command('/weather', 'supergroup'), null);
  t.same(command('/weather@our_bot', 'group'), { kind: 'help' });
  t.equal(said('hello', 'group'), null);
  t.equal(said('/status', 'channel'), null);
});

void t.test('the token of a deep link is kept as its hash only', async (t) => {
  const token = 'a'.repeat(43);
  const incoming = said(`/start ${token}`);
  t.match(incoming, { kind: 'command', name: 'start', rest: '', tokenHash: /^[0-9a-f]{64}$/ });
  t.notMatch(JSON.stringify(incoming), token);
  t.equal(deepLink('our_bot', 'group', token), `https://t.me/our_bot?startgroup=${token}`);
  t.equal(deepLink('our_bot', 'person', token), `https://t.me/our_bot?start=${token}`);
});

void t.test('durations are a number and a unit, a minute to a week', async (t) => {
  for (const [text, minutes] of [
    ['30m', 30],
    ['1h', 60],
    ['2 Days', 2_880],
    ['7d', 10_080],
    ['3 ч', 180],
    ['0m', null],
    ['8d', null],
    ['-1h', null],
    ['1h30m', null],
    ['h', null],
    ['1e3m', null],
    ['99999999m', null],
  ] as const) {
    t.equal(minutesOf(text), minutes, text);
  }
});

void t.test('whatever comes is an update or none, fits the database, and nothing throws', async () => {
  const anyText = fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes));
  fc.assert(
    fc.property(fc.anything(), anyText, anyText, (odd, text, name) => {
      const given = {
        update_id: 7,
        message: {
          message_id: 1,
          chat: { id: -5, type: 'supergroup', title: name },
          from: { id: 1, first_name: name, last_name: odd },
          text: `/${text}`,
        },
        callback_query: odd,
        my_chat_member: odd,
      };
      readUpdate(odd);
      const kept = JSON.stringify(readUpdate(given));
      return !/\\u0000|\\ud[89a-f]/i.test(kept);
    }),
  );
});

void t.test('answers are taken by the messenger, whatever people call things', async () => {
  const name = fc.string({ unit: 'binary', maxLength: 300 });
  fc.assert(
    fc.property(name, fc.constantFrom('en', 'ru'), (text, locale) => {
      const words = wordsOf(locale);
      const listed = { id: 1, name: text, status: 'DOWN', isPaused: false, sinceMs: 90_000 };
      const counts = { total: 3, up: 1, down: 2, degraded: 0, unknown: 0, paused: 0 };
      const others = [{ kind: 'heartbeat', counts, listed: [{ ...listed, id: null }] }] as const;
      for (const html of [
        words.help(true),
        words.help(false),
        words.linkedPerson(text),
        words.linkedGroup(text),
        words.status(text, counts, [listed], others),
        words.list(
          text,
          Array.from({ length: 30 }, () => listed),
          40,
          [],
        ),
        words.unknownMonitor(text),
        words.ambiguous(text, [{ id: 1, name: text }]),
        words.paused(text),
        words.refused(text),
        words.muted(text, 5),
      ]) {
        // Counted by the messenger after entities are parsed; a list has the longest of them.
        if (parseHtmlStyle(html).length > 4_096) return false;
      }
      return Object.values(words.button).every((word) => word.length <= 200);
    }),
  );
});

void t.test('the longest answer fits into one message, as the messenger counts', async (t) => {
  for (const locale of ['en', 'ru'] as const) {
    const words = wordsOf(locale);
    for (const character of ['W', '\u{1f525}', '&']) {
      const name = character.repeat(200);
      const listed = { id: 2_147_483_647, name, status: 'TIMEOUT', isPaused: false, sinceMs: 86_400_000 * 10_000 };
      const counts = { total: 99_999, up: 99_999, down: 99_999, degraded: 99_999, unknown: 99_999, paused: 99_999 };
      const each = Array.from({ length: 6 }, () => listed);
      const kinds = ['heartbeat', 'webhook_check'] as const;
      const others = kinds.map((kind) => ({ kind, counts, listed: each }));
      const parts = Array.from({ length: 5 }, () => ({ others }));
      const status = fitted(parts, (part) => words.status(name, counts, each, part.others));
      t.ok(parseHtmlStyle(status).length <= 4_096, `${locale}, 5 workspaces with 6 each of ${character}`);
      const thirty = Array.from({ length: 30 }, () => listed);
      const list = fitted([{ others }], (part) => words.list(name, thirty, 99_999, part.others));
      t.ok(parseHtmlStyle(list).length <= 4_096, `${locale}, 30 of ${character}`);
    }
  }
});

void t.test('a name turns nothing around and breaks no line', async (t) => {
  t.equal(nameInHtml('a\u202eb\n<c>'), '\u2068ab &lt;c&gt;\u2069');
  t.equal(escapeHtml('"&<>'), '&quot;&amp;&lt;&gt;');
  t.throws(() => parseHtmlStyle('a & b'));
  t.throws(() => parseHtmlStyle('<b>a'));
  t.throws(() => parseHtmlStyle('<script>'));
});

void t.test('buttons say in 64 bytes what they are for, and nothing else is read as one', async () => {
  const id = fc.integer({ min: 1, max: 2_147_483_647 });
  fc.assert(
    fc.property(id, fc.integer({ min: 1, max: 10_080 }), (number, minutes) => {
      const all = [
        { kind: 'acknowledge', incidentId: number },
        { kind: 'mute', workspaceId: number, minutes },
      ] as const;
      return all.every((button) => {
        const data = writeButton(button);
        return Buffer.byteLength(data) <= 64 && JSON.stringify(readButton(data)) === JSON.stringify(button);
      });
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => readButton(text) === null || /^(?:ack|mute):/.test(text)));
});

void t.test('messages as they are composed have the buttons for what is left to be done', async (t) => {
  const notices = samples('en').map(({ notice }) => notice);
  const composed = (kind: string, more: Partial<NoticeOccasion> = {}) => {
    const found = notices.find((each) => each.kind === kind && each.occasion?.incidentId !== null);
    if (found?.occasion == null) throw new Error(`there is no sample of ${kind}`);
    return compose({ ...found, occasion: { ...found.occasion, ...more } });
  };
  const opened = composed('opened', { incidentId: 7 });
  const mute = { callback_data: `mute:${opened.workspace.id}:60` };
  t.match(keyboardOf(opened), { inline_keyboard: [[{ callback_data: 'ack:7' }, mute]] });
  t.match(keyboardOf(composed('reminder', { incidentId: 7 })), {
    inline_keyboard: [[{ callback_data: 'ack:7' }, mute]],
  });
  for (const none of [composed('reminder', { isAcknowledged: true }), composed('opened', { incidentId: null })]) {
    t.same(
      keyboardOf(none)
        ?.inline_keyboard.flat()
        .map(({ callback_data: data }) => data),
      [mute.callback_data],
    );
  }
  t.equal(keyboardOf(composed('resolved')), undefined);
  t.equal(keyboardOf({ ...opened, kind: 'test' }), undefined);
});

void t.test('a chat is never written to twice in a second, nor more than 20 times in any minute', async () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 100 }), (waits) => {
      let pace = { sentMs: [] as readonly number[], freeMs: 0 };
      const all: number[] = [];
      let nowMs = 0;
      for (const wait of waits) {
        nowMs = Math.max(nowMs + wait, pace.freeMs);
        pace = paceAfter(pace.sentMs, nowMs);
        all.push(nowMs);
      }
      return all.every((at, index) => {
        const next = all[index + 1];
        const isApart = next === undefined || next - at >= 1_000;
        return isApart && all.filter((other) => other >= at && other < at + 60_000).length <= 20;
      });
    }),
  );
});

void t.test('after a week of silence the place in the updates says nothing', async (t) => {
  const dayMs = 86_400_000;
  t.equal(offsetOf({ nextOffset: 9, lastUpdateMs: 0 }, 4 * dayMs), 9);
  t.equal(offsetOf({ nextOffset: 9, lastUpdateMs: 0 }, 6 * dayMs), undefined);
  t.equal(offsetOf({ nextOffset: null, lastUpdateMs: null }, 0), undefined);
});

void t.test('secrets of the webhook are of the letters that it takes, and another token has others', async (t) => {
  const one = webhookSecrets({ token: '1:a', baseUrl: '' });
  const two = webhookSecrets({ token: '1:b', baseUrl: '' });
  t.match(one, { path: /^[\w-]{43}$/, header: /^[\w-]{43}$/ });
  t.equal(new Set([one.path, one.header, two.path, two.header]).size, 4);
});

void t.test('times and languages are the reader’s', async (t) => {
  t.match(clockTime(0, 'en', 'Asia/Tokyo'), /1 Jan.* 09:00 \(Asia\/Tokyo\)/);
  t.match(clockTime(0, 'ru', 'UTC'), /1 янв.* 00:00 \(UTC\)/);
  t.same(['ru', 'ru-RU', 'RU', 'run', 'en', null].map(localeOf), ['ru', 'ru', 'ru', 'en', 'en', 'en']);
});
