import fc from '@parallax/testkit/fast-check';
import { locales } from './locale.ts';
import { noticeKinds } from './notice.ts';
import type { Notice, NoticeOccasion } from './notice.ts';

/** Text as an adversary writes it: of everything, but more often of what does harm. */
export const hostileText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 10 }),
      fc.string({ unit: 'grapheme', maxLength: 10 }),
      fc.constantFrom(
        '\u202e',
        '\u2066',
        '\u2068',
        '\u2069',
        '\u200b',
        '\u200d',
        '\ud800',
        '\udc00',
        '\r\n',
        '\u2028',
        '\u0000',
        '\u001b[31m',
        '\u0007',
        'שלום',
        '👩‍👩‍👧',
        'e\u0301\u0301\u0301\u0301\u0301\u0301',
        '{{title}}',
        '${name}',
        '$&',
        '<script>alert(1)</script>',
        '</td></table>',
        '<!-- <![endif]-->',
        '"><img src=x>',
        '](https://evil.example)',
        '*bold* _it_ ~x~ `c`',
        '@everyone',
        '<!channel>',
        'Bcc: a@b.example',
        'x'.repeat(300),
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
const orNull = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });
const severity = fc.constantFrom('minor', 'major', 'critical');
const event = fc.oneof(
  fc.constantFrom(
    'monitor.down',
    'monitor.degraded',
    'monitor.partial',
    'monitor.unknown',
    'monitor.flapping',
    'certificate.expiring',
    'domain.expiring',
    'dnsbl.listed',
    'heartbeat.missed',
    'webhook_check.missed',
    'probe.offline',
    'probe.quarantined',
    'incident.opened',
    'maintenance.all_clear',
  ),
  hostileText,
);
const link = orNull(
  fc.oneof(
    fc.constant('https://status.example/incidents/1?a=b&c="d"'),
    fc.constant('javascript:alert(1)'),
    hostileText,
  ),
);

const details: fc.Arbitrary<NoticeOccasion['details']> = fc.record(
  {
    notAfterMs: time,
    thresholdDays: fc.integer({ min: 0, max: 90 }),
    provider: hostileText,
    region: hostileText,
    reason: hostileText,
    incidents: fc.array(hostileText, { maxLength: 30 }),
    incidentCount: fc.nat(1000),
  },
  { requiredKeys: [] },
);

const occasion: fc.Arbitrary<NoticeOccasion> = fc.record({
  event,
  incidentId: orNull(fc.nat()),
  severity,
  title: hostileText,
  ownTitle: orNull(hostileText),
  startedMs: time,
  endedMs: orNull(time),
  resolution: orNull(
    fc.oneof(
      fc.constantFrom('auto', 'manual', 'paused', 'deleted', 'removed', 'reset', 'folded', 'corrected'),
      hostileText,
    ),
  ),
  isAcknowledged: fc.boolean(),
  isManual: fc.boolean(),
  by: orNull(hostileText),
  closing: orNull(hostileText),
  subjects: fc.array(
    fc.record({
      type: fc.constantFrom('monitor', 'heartbeat', 'webhook_check', 'probe', 'maintenance'),
      id: fc.nat(),
      name: hostileText,
      status: orNull(fc.oneof(fc.constantFrom('DOWN', 'TIMEOUT', 'missed', 'failed', 'DEGRADED'), hostileText)),
      startedMs: time,
      endedMs: orNull(time),
    }),
    { maxLength: 25 },
  ),
  subjectCount: fc.nat(20_000),
  votes: fc.array(
    fc.record({
      probe: hostileText,
      region: orNull(hostileText),
      vote: fc.oneof(fc.constantFrom('UP', 'DOWN', 'TIMEOUT', 'DEGRADED', 'WARNING'), hostileText),
      code: orNull(
        fc.oneof(fc.constantFrom('connect_refused', 'http_status', '__proto__', 'constructor'), hostileText),
      ),
      text: orNull(hostileText),
    }),
    { maxLength: 40 },
  ),
  missing: fc.array(hostileText, { maxLength: 30 }),
  said: orNull(hostileText),
  nextCheckMs: orNull(time),
  details,
});

/** Any notice, with every text hostile. */
export const hostileNotice: fc.Arbitrary<Notice> = fc.record({
  id: hostileText,
  subjectKey: hostileText,
  kind: fc.constantFrom(...noticeKinds),
  atMs: time,
  locale: fc.constantFrom(...locales),
  timezone: fc.oneof(fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu'), hostileText),
  workspace: fc.record({ id: fc.nat(), name: hostileText }),
  occasion: orNull(occasion),
  reminder: orNull(fc.nat(100)),
  step: orNull(fc.nat(10)),
  update: orNull(
    fc.record({
      reason: fc.constantFrom('members', 'reopened', 'update', 'changed'),
      text: orNull(hostileText),
    }),
  ),
  digest: orNull(
    fc.record({
      count: fc.nat(10_000),
      lasting: fc.nat(10_000),
      over: fc.nat(10_000),
      lines: fc.array(
        fc.record({
          event,
          severity,
          title: hostileText,
          name: orNull(hostileText),
          subjectCount: fc.nat(100),
          startedMs: time,
          endedMs: orNull(time),
          url: link,
        }),
        { maxLength: 25 },
      ),
    }),
  ),
  alertName: orNull(hostileText),
  links: fc.record({ open: link, acknowledge: link, snooze: link, unsubscribe: link }),
});
