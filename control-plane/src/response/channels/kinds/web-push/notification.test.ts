import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { isBalanced } from '../../../messages/plain.ts';
import { hostileMessage, hostileTexts, longMessage, sampleMessage } from '../../testing/messages.ts';
import { cut, mostPayloadBytes, notificationOf, shortPayloadBytes } from './notification.ts';

const read = (text: string) => JSON.parse(text) as Record<string, unknown>;

void t.test('a notification says what the message says, and names the thing that it is about by its tag', async (t) => {
  t.same(read(notificationOf(sampleMessage(), mostPayloadBytes)), {
    version: 1,
    id: 'n-17-1',
    tag: 'incident:17',
    kind: 'opened',
    state: 'problem',
    severity: 'critical',
    lang: 'en',
    at: '2026-03-01T02:00:05.000Z',
    title: 'Shop is down',
    body: 'Three of three probes get no answer from https://shop.example.com/.\nSince: 03:00:00 (5 seconds)\nSeen from: Frankfurt, Helsinki, New York\nNext check: 03:00:30',
    url: 'https://monitor.example.com/incidents/17',
    actions: [
      { action: 'acknowledge', title: 'Acknowledge', url: 'https://monitor.example.com/alerts/snooze/abc' },
      { action: 'snooze', title: 'Snooze', url: 'https://monitor.example.com/alerts/snooze/abc?for=1h' },
    ],
  });
});

void t.test('the longest message fits, and keeps its title', async (t) => {
  for (const character of ['a', '"', 'я', '店', '👩‍👩‍👧‍👦', '\ud800', 'e\u0301']) {
    for (const most of [mostPayloadBytes, shortPayloadBytes]) {
      const text = notificationOf(longMessage(character), most);
      t.ok(Buffer.byteLength(text) <= most, `${character}: ${Buffer.byteLength(text)} of ${most}`);
      t.not(read(text)['title'], '', character);
      t.not(read(text)['url'], null, character);
    }
    const full = read(notificationOf(longMessage(character), mostPayloadBytes));
    t.ok(
      String(full['title']).startsWith(character) && !String(full['title']).endsWith('…'),
      `${character}: a whole title`,
    );
    t.ok(String(full['body']).endsWith('…'), `${character}: a body that is cut`);
  }
  for (const hostile of hostileTexts) {
    t.match(read(notificationOf(hostileMessage(hostile), mostPayloadBytes)), { title: hostileMessage(hostile).title });
  }
});

void t.test('a name from right to left is held apart, also where it is cut', async (t) => {
  const text = `\u2068${'متجر '.repeat(20)}\u2069 is down`;
  for (let most = 0; most <= 260; most += 1) {
    const short = cut(text, most);
    t.ok(isBalanced(short) && Buffer.byteLength(JSON.stringify(short)) - 2 <= most, `${most}: ${short}`);
  }
});

void t.test('an address that is too long is left out, not cut', async (t) => {
  const url = `https://monitor.example.com/${'a'.repeat(2_000)}`;
  const links = [
    { purpose: 'open', label: 'Open', url },
    { purpose: 'snooze', label: 'Snooze', url },
  ] as const;
  t.match(read(notificationOf(sampleMessage({ links }), mostPayloadBytes)), { url: null, actions: [] });
  t.match(read(notificationOf(sampleMessage({ links: [] }), mostPayloadBytes)), { url: null, actions: [] });
});

void t.test('whatever a message says, it fits, and nothing of a character is left of one that is cut', async () => {
  const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });
  const text = (maxLength: number) =>
    fc.oneof(fc.string({ unit: 'grapheme', maxLength }), fc.string({ unit: 'binary', maxLength }));
  const word = fc.stringMatching(/^[A-Za-z0-9._:-]{1,100}$/);
  fc.assert(
    fc.property(
      fc.record({ id: word, subjectKey: word, title: text(200), summary: text(600) }),
      fc.array(fc.record({ label: text(50), value: text(300) }), { maxLength: 12 }),
      fc.constantFrom(mostPayloadBytes, shortPayloadBytes),
      (words, facts, most) => {
        const notification = notificationOf(sampleMessage({ ...words, facts }), most);
        const { title } = read(notification);
        return Buffer.byteLength(notification) <= most && (most === shortPayloadBytes || title === words.title);
      },
    ),
  );
  fc.assert(
    fc.property(text(100), fc.integer({ min: 0, max: 200 }), (whole, most) => {
      const short = cut(whole, most);
      if (Buffer.byteLength(JSON.stringify(short)) - 2 > Math.max(most, 0)) return false;
      if (short === whole || short === '') return true;
      const kept = short.slice(0, short.lastIndexOf('…'));
      const ends = new Set([...graphemes.segment(whole)].map(({ index }) => index));
      // Space before the mark is taken away, so the cut lies at the end of what is left or after the space.
      return (
        whole.startsWith(kept) && (ends.has(kept.length) || kept.length === 0 || /^\s/.test(whole.slice(kept.length)))
      );
    }),
  );
});
