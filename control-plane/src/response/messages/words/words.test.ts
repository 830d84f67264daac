import t from 'tap';
import { errorCodes } from '@parallax/checks';
import { en } from './en.ts';
import { wordsOf } from './of.ts';
import { ru } from './ru.ts';
import { dayOf, durationParts, knownZone, momentOf, untilParts, wholeMomentOf } from './times.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

t.test('durations', async (t) => {
  for (const [ms, english, russian] of [
    [-5, 'less than a second', 'меньше секунды'],
    [999, 'less than a second', 'меньше секунды'],
    [second, '1 second', '1 секунда'],
    [59_999, '59 seconds', '59 секунд'],
    [minute, '1 minute', '1 минута'],
    [2 * minute, '2 minutes', '2 минуты'],
    [12 * minute + 59 * second, '12 minutes', '12 минут'],
    [21 * minute, '21 minutes', '21 минута'],
    [hour, '1 hour', '1 час'],
    [hour + 4 * minute, '1 h 4 min', '1 ч 4 мин'],
    [3 * day + 4 * hour + 50 * minute, '3 d 4 h', '3 д 4 ч'],
    [3 * day + 50 * minute, '3 days', '3 дня'],
    [100 * day, '100 days', '100 дней'],
  ] as const) {
    t.equal(en.duration(durationParts(ms)), english);
    t.equal(ru.duration(durationParts(ms)), russian);
  }
  t.same(untilParts(7 * day + hour), [['d', 7]]);
  t.same(untilParts(day + hour), [
    ['d', 1],
    ['h', 1],
  ]);
});

t.test('Russian cases', async (t) => {
  t.equal(ru.sentences.lasted(durationParts(minute)), 'Длилось 1 минуту.');
  t.equal(ru.sentences.lasted(durationParts(21 * second)), 'Длилось 21 секунду.');
  t.equal(ru.expiry('A', 'certificate', [['d', 1]]), 'Сертификат истекает через 1 день: A');
  const many = (count: number): string => ru.problems({ count, counted: 'monitor', names: ['A'] }, 'now');
  t.equal(many(2), 'Сбой у 2 мониторов: A и ещё 1');
  t.equal(many(21), 'Сбой у 21 монитора: A и ещё 20');
  t.equal(many(111), 'Сбой у 111 мониторов: A и ещё 110');
  const seen = (asked: number): string => ru.sentences.seenFrom({ probes: ['A'], failing: 1, asked });
  t.equal(seen(1), 'Видно из: A (1 из 1 зонда).');
  t.equal(seen(3), 'Видно из: A (1 из 3 зондов).');
  t.equal(seen(0), 'Видно из: A.');
  t.equal(ru.titles.digest(22, 0), '22 проблемы');
  t.equal(ru.titles.afterQuiet(1, 0), 'Тихие часы закончились: 1 проблема осталась');
  t.match(ru.sentences.allClear(1), /1 сбой начался и закончился/u);
  t.match(ru.sentences.allClear(5), /5 сбоев начались/u);
});

t.test('English numbers', async (t) => {
  t.equal(en.problems({ count: 1, counted: 'heartbeat', names: ['A'] }, 'still'), '1 heartbeat is still down: A');
  t.equal(en.problems({ count: 3, counted: 'check', names: ['A', 'B'] }, 'now'), '3 checks are down: A, B and 1 more');
  t.equal(en.list(['A', 'B', 'C'], 0), 'A, B and C');
  const seen = (asked: number): string => en.sentences.seenFrom({ probes: ['A'], failing: 1, asked });
  t.equal(seen(3), 'Seen from A (1 of 3 probes).');
  t.equal(seen(0), 'Seen from A.');
  t.equal(en.titles.digest(1, 2), '1 problem, 2 over');
});

t.test('times stand in the zone of the reader, and name it', async (t) => {
  const now = Date.UTC(2026, 10, 23, 2, 15);
  t.equal(momentOf('en-GB', 'Europe/Berlin', now, now), '03:15 CET');
  t.equal(momentOf('ru-RU', 'Europe/Moscow', now, now), '05:15 GMT+3');
  t.equal(momentOf('en-GB', 'America/New_York', now, now + 5 * hour), '22 Nov 2026, 21:15 GMT-5', 'another day there');
  t.equal(wholeMomentOf('ru-RU', 'UTC', now), '23 ноября 2026, 02:15 UTC');
  t.equal(momentOf('en-GB', 'UTC', Date.UTC(2026, 10, 23), now), '00:00 UTC', 'midnight is no 24:00');
  t.equal(dayOf('ru-RU', 'UTC', now), '23 ноября 2026');
  t.equal(
    momentOf('en-GB', 'Europe/Berlin', Date.UTC(2026, 6, 1, 12), now),
    '1 Jul 2026, 14:00 CEST',
    'as it was then',
  );
  t.equal(knownZone('Mars/Olympus'), 'UTC');
  t.equal(knownZone('Asia/Kathmandu'), 'Asia/Kathmandu');
});

t.test('reasons are of codes that exist, in every language', async (t) => {
  for (const locale of ['en', 'ru'] as const) {
    const { reasons } = wordsOf(locale);
    t.same(Object.keys(reasons).sort(), Object.keys(en.reasons).sort());
    for (const [code, reason] of Object.entries(reasons)) {
      t.ok(code in errorCodes, code);
      t.notMatch(reason, /\.$|^[A-ZА-Я](?![A-ZА-Я])/u, 'they follow a colon');
    }
  }
});
