import assert from 'node:assert/strict';
import fc from '@parallax/testkit/fast-check';
import ICAL from 'ical.js';
import t from 'tap';
import { calendarDocuments } from './calendar.ts';
import { anyPage } from './testing/any-page.ts';
import { textOf } from './testing/render.ts';
import { emptyPageOf, maintenanceOf, nowMs, pageOf } from './testing/samples.ts';

const calendarOf = (view = pageOf()) =>
  new ICAL.Component(ICAL.parse(textOf(calendarDocuments, '/calendar.ics', view)));
const valueOf = (component: ICAL.Component, name: string): string => String(component.getFirstPropertyValue(name));

/** A text as a value of iCalendar can hold it: lines end in one way, and control characters are left out. */
const holdable = (text: string): string =>
  text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\t\n]/gu, '')
    .toWellFormed();

void t.test('upcoming, active and completed maintenance are events in UTC', async (t) => {
  const calendar = calendarOf();
  t.equal(valueOf(calendar, 'x-wr-calname'), 'Shop: Maintenance');
  t.equal(valueOf(calendar, 'name'), 'Shop: Maintenance');
  t.equal(valueOf(calendar, 'refresh-interval'), 'PT1H');
  t.equal(calendar.getFirstPropertyValue('method'), null);
  const events = calendar.getAllSubcomponents('vevent');
  t.same(
    events.map((event) => ['uid', 'summary', 'dtstart', 'dtend', 'status'].map((name) => valueOf(event, name))),
    [
      [
        'maintenance-mnt000000002@page00000001',
        'Maintenance',
        '2026-11-27T11:00:00Z',
        '2026-11-27T13:00:00Z',
        'CONFIRMED',
      ],
      [
        'maintenance-mnt000000001@page00000001',
        'Database upgrade',
        '2026-11-28T12:00:00Z',
        '2026-11-28T14:00:00Z',
        'CONFIRMED',
      ],
      [
        'maintenance-mnt000000003@page00000001',
        'Move to another hall',
        '2026-11-22T12:00:00Z',
        '2026-11-22T13:00:00Z',
        'CONFIRMED',
      ],
    ],
  );
  t.equal(events[1] && valueOf(events[1], 'description'), 'Orders are read-only.\n\nAffected: Checkout');
});

void t.test('a change keeps the UID and raises the revision', async (t) => {
  const eventOf = (updatedMs: number, startsMs: number) => {
    const [event] = calendarOf(
      pageOf({ maintenance: [maintenanceOf({ updatedMs, startsMs, endsMs: startsMs + 1_000 })] }),
    ).getAllSubcomponents('vevent');
    if (event === undefined) throw new Error('There is an event');
    return event;
  };
  const before = eventOf(nowMs, nowMs);
  const after = eventOf(nowMs + 60_000, nowMs + 5_000);
  t.equal(valueOf(after, 'uid'), valueOf(before, 'uid'));
  t.ok(Number(valueOf(after, 'sequence')) > Number(valueOf(before, 'sequence')));
  t.equal(valueOf(after, 'last-modified'), '2026-11-27T12:01:00Z');
  t.equal(valueOf(after, 'dtstamp'), '2026-11-27T12:01:00Z');
  t.ok(Number(valueOf(after, 'sequence')) < 2 ** 31);
});

void t.test('a page without maintenance has a calendar, and one in Russian speaks it', async (t) => {
  t.same(calendarOf(emptyPageOf()).getAllSubcomponents('vevent'), []);
  const [active] = calendarOf(pageOf({ locale: 'ru' })).getAllSubcomponents('vevent');
  t.equal(active && valueOf(active, 'summary'), 'Технические работы');
});

void t.test('whatever people call things, other readers find just that, in lines of 75 octets', async () => {
  fc.assert(
    fc.property(anyPage, (view) => {
      const text = textOf(calendarDocuments, '/calendar.ics', view);
      const bytes = Buffer.from(text);
      // A cut character would not come back.
      assert.equal(new TextDecoder('utf-8', { fatal: true }).decode(bytes), text);
      for (const line of text.split('\r\n')) {
        assert.ok(Buffer.byteLength(line) <= 75, line);
        assert.doesNotMatch(line, /[\r\n]/);
      }
      const events = calendarOf(view).getAllSubcomponents('vevent');
      assert.deepEqual(
        events.map((event) => valueOf(event, 'summary')),
        view.maintenance.map(({ title }) =>
          holdable(title ?? (view.locale === 'en' ? 'Maintenance' : 'Технические работы')),
        ),
      );
      assert.deepEqual(
        events.map((event) => Date.parse(valueOf(event, 'dtstart'))),
        view.maintenance.map(({ startsMs }) => Math.floor(startsMs / 1_000) * 1_000),
      );
    }),
  );
});
