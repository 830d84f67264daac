import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { escapeMarkdown } from '../../../messages/index.ts';
import { hostileMessage, hostileTexts, longMessage, sampleMessage } from '../../testing/messages.ts';
import { bytes, cut, units } from './cut.ts';
import { layOut, plain } from './lay-out.ts';
import { markdown } from './markdown.ts';

void t.test('a text is cut to what a service counts, between graphemes, and before it is escaped', async (t) => {
  const text = fc
    .array(fc.constantFrom('a', 'я', '商', '👩‍👩‍👧‍👦', '*', '\u2068ا\u2069', ' '), { maxLength: 60 })
    .map((all) => all.join(''));
  for (const measure of [units, bytes, (part: string) => escapeMarkdown(part).length]) {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 80 }), (whole, limit) => {
        const found = cut(whole, limit, measure);
        t.ok(measure(found) <= limit);
        if (measure(whole) <= limit) t.equal(found, whole);
        t.ok(found.isWellFormed());
      }),
    );
  }
  t.equal(cut('👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 12), '👩‍👩‍👧‍👦…');
});

void t.test('a message never gets longer than its service takes, and keeps title and links', async (t) => {
  for (const character of ['a', 'я', '商', '𝕊', '*', '<']) {
    const message = longMessage(character);
    for (const limit of [600, 1000, 4000, 20_000]) {
      for (const measure of [units, bytes]) {
        for (const markup of [plain, markdown]) {
          const text = layOut(message, markup, limit, {}, measure);
          t.ok(measure(text) <= limit, `${measure(text)} of ${limit}`);
        }
      }
    }
    const text = layOut(message, plain, 1000);
    for (const { url } of message.links) t.match(text, url);
  }
});

void t.test('all of a message that has room is there', async (t) => {
  const text = layOut(sampleMessage(), plain, 4000);
  t.match(text, 'Shop is down\nThree of three probes');
  for (const part of ['Since: 03:00:00', 'What each probe got:', 'Helsinki: timeout', 'Open the incident: https://'])
    t.match(text, part);
  t.notMatch(
    layOut(sampleMessage(), plain, 4000, { title: false, facts: false, links: false }),
    /Shop is down|Since|https:..monitor/,
  );
});

void t.test('facts go before the title does', async (t) => {
  const text = layOut(sampleMessage({ links: [] }), plain, 130);
  t.match(text, 'Shop is down');
  t.notMatch(text, 'Helsinki: timeout');
  for (const hostile of hostileTexts) t.ok(layOut(hostileMessage(hostile), markdown, 300).length <= 300);
});
