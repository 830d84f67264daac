import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { wallOf } from '../../maintenance/index.ts';
import { actionOf, nextMorning, snoozeUntil } from './action.ts';

const hourMs = 3_600_000;

void t.test('the form of the page is read, and nothing else', async (t) => {
  t.equal(actionOf(Buffer.from('action=snooze_4h')), 'snooze_4h');
  t.equal(actionOf(Buffer.from('x=1&action=acknowledge')), 'acknowledge');
  for (const body of ['', 'action=', 'action=delete', 'action[]=acknowledge', '{"action":"acknowledge"}', '\u0000']) {
    t.equal(actionOf(Buffer.from(body)), undefined, body);
  }
  t.equal(actionOf(undefined), undefined);
});

void t.test('the next morning is nine o’clock, an hour away at least and a day at most', async (t) => {
  const zones = fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Asia/Kathmandu',
    'Pacific/Apia',
    'Australia/Lord_Howe',
  );
  const instants = fc.integer({ min: Date.parse('2020-01-01'), max: Date.parse('2035-01-01') });
  fc.assert(
    fc.property(zones, instants, (zone, nowMs) => {
      const morning = nextMorning(nowMs, zone);
      const wall = new Date(wallOf(morning, zone));
      return (
        morning >= nowMs + hourMs &&
        morning <= nowMs + 26 * hourMs &&
        wall.getUTCHours() === 9 &&
        wall.getUTCMinutes() === 0
      );
    }),
  );
  t.equal(
    new Date(nextMorning(Date.parse('2026-03-28T20:00:00Z'), 'Europe/Berlin')).toISOString(),
    '2026-03-29T07:00:00.000Z',
  );
  t.equal(snoozeUntil('acknowledge', 0, 'UTC'), null);
  t.equal(snoozeUntil('snooze_1h', 5, 'UTC'), 5 + hourMs);
  t.equal(snoozeUntil('snooze_4h', 5, 'UTC'), 5 + 4 * hourMs);
});
