import fc from '@parallax/testkit/fast-check';
import { componentStatuses, indicators, publicUpdateStatuses } from '../../view/page-view.ts';
import type { ComponentView, DayLetter, IncidentView, MaintenanceView, PageView } from '../../view/page-view.ts';
import { nowMs, pageOf } from './samples.ts';

const yearMs = 365 * 86_400_000;
const id = fc.stringMatching(/^[a-z0-9]{12}$/);
const time = fc.integer({ min: nowMs - yearMs, max: nowMs + yearMs });
const letters: readonly DayLetter[] = ['u', 'd', 'p', 'x', 'm', 'n'];

/** Texts as people and attackers write them: markup, quotes, ends of sections, controls, halves of pairs, right-to-left marks, long words. */
export const hostileText = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
  fc.constantFrom(
    '</title><script>alert(1)</script>',
    ']]>',
    '<![CDATA[x]]>',
    '&lt;b&gt; &amp;amp; &#0; &bogus;',
    '"><img src=x onerror=alert(1)>',
    'a\u0000b\u0001c\u000bd\u001fe\u007f\u0085',
    '\ud800 half \udfff',
    '\ufffe\uffff',
    'line\r\nEND:VEVENT\r\nBEGIN:VEVENT\rx\ny',
    String.raw`back\slash; semi, comma\n`,
    'ы'.repeat(120),
    '👩‍👩‍👧‍👦'.repeat(20),
    '\u2028\u2029\u202e',
    '__proto__',
    '<!--',
    '</style><style>*{display:none}',
  ),
  fc
    .array(fc.constantFrom('\\', ',', ';', '\n', '\r', '"', '<', '&', ' ', 'é', '漢', '😀', '\u0007'), {
      minLength: 1,
      maxLength: 100,
    })
    .map((parts) => parts.join('')),
);

const component: fc.Arbitrary<ComponentView> = fc.record({
  id,
  name: hostileText,
  description: fc.oneof(fc.constant(''), hostileText),
  status: fc.constantFrom(...componentStatuses),
  sinceMs: fc.option(time),
  showsUptime: fc.boolean(),
  uptimePercent: fc.option(fc.integer({ min: 0, max: 10_000 }).map((each) => each / 100)),
  measuredPercent: fc.constant(100),
  days: fc.array(fc.constantFrom(...letters), { minLength: 30, maxLength: 30 }),
  troubles: fc.constant([]),
});

const incident = (components: readonly ComponentView[]): fc.Arbitrary<IncidentView> =>
  fc
    .record({
      id,
      title: fc.option(hostileText),
      status: fc.constantFrom('investigating', 'identified', 'monitoring', 'resolved', 'postmortem'),
      impact: fc.constantFrom('none', 'minor', 'major', 'critical'),
      isAutomatic: fc.boolean(),
      startedMs: time,
      resolvedMs: fc.option(time),
      createdMs: time,
      updatedMs: time,
      affected: affectedOf(components),
      updates: fc.array(
        fc.record({
          id,
          status: fc.constantFrom(...publicUpdateStatuses),
          body: fc.option(hostileText),
          createdMs: time,
          displayMs: time,
          impacts: fc.array(
            fc.record({
              componentId: fc.constantFrom(...components.map((each) => each.id), 'gone00000000'),
              status: fc.constantFrom(...componentStatuses),
            }),
            { maxLength: 3 },
          ),
        }),
        { maxLength: 4 },
      ),
      postmortem: fc.option(hostileText),
    })
    .map(({ affected, ...rest }) => ({ ...rest, ...affected }) as const);

const maintenance = (components: readonly ComponentView[]): fc.Arbitrary<MaintenanceView> =>
  fc
    .record({
      id,
      title: fc.option(hostileText),
      text: fc.option(hostileText),
      status: fc.constantFrom('scheduled', 'in_progress', 'completed'),
      startsMs: time,
      lasts: fc.integer({ min: 0, max: 1e8 }),
      updatedMs: time,
      affected: affectedOf(components),
    })
    .map(({ affected, lasts, ...rest }) => ({ ...rest, ...affected, endsMs: rest.startsMs + lasts }) as const);

const affectedOf = (components: readonly ComponentView[]) =>
  fc.subarray([...components]).map((some) => ({
    componentIds: some.map((each) => each.id),
    componentNames: some.map((each) => each.name),
  }));

/** Any page: hostile texts, any states, some without anything. */
export const anyPage: fc.Arbitrary<PageView> = fc
  .array(component, { maxLength: 5 })
  .chain((components) =>
    fc.record({
      name: hostileText,
      description: fc.oneof(fc.constant(''), hostileText),
      locale: fc.constantFrom('en', 'ru'),
      timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns'),
      indicator: fc.constantFrom(...indicators),
      sections: fc.record({ split: fc.integer({ min: 0, max: 5 }), sectionId: id, name: hostileText }).map(
        ({ split, sectionId, name }) =>
          [
            { id: sectionId, name, status: 'operational', components: components.slice(0, split) },
            { id: null, name: null, status: 'operational', components: components.slice(split) },
          ] as const,
      ),
      incidents: fc.array(incident(components), { maxLength: 4 }),
      maintenance: fc.array(maintenance(components), { maxLength: 4 }),
      embedOrigins: fc.array(
        fc.oneof(fc.constantFrom('https://shop.example', "https://a.example; script-src 'unsafe-inline'"), hostileText),
        { maxLength: 3 },
      ),
    }),
  )
  .map((parts) => pageOf(parts));
