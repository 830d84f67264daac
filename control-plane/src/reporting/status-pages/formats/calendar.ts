import { escapeText, fold, instantText } from '../../../platform/calendar-text.ts';
import type { DocumentRequest, PageDocument } from '../view/page-document.ts';
import type { MaintenanceView, PageView } from '../view/page-view.ts';
import { maintenanceUrl } from './places.ts';
import { maintenanceTitle, wordsOf } from './words.ts';
import type { FormatWords } from './words.ts';

/**
 * Maintenance as a calendar to subscribe to (RFC 5545, names and refreshing of RFC 7986). It has no METHOD: it is published, and nobody is invited.
 * Each occurrence is an event of its own, in UTC, since a view has no rules of repetition.
 */
function calendarText(view: PageView, { locale }: DocumentRequest): string {
  const words = wordsOf(locale);
  const name = escapeText(clean(`${view.name}: ${words.maintenance}`));
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    `PRODID:-//Parallax//Status page//${locale.toUpperCase()}`,
    'CALSCALE:GREGORIAN',
    `NAME:${name}`,
    // Outlook, Google and Apple read this older name.
    `X-WR-CALNAME:${name}`,
    `X-WR-TIMEZONE:${escapeText(clean(view.timezone))}`,
    ...(view.description === '' ? [] : [`DESCRIPTION:${escapeText(clean(view.description))}`]),
    `URL:${view.url}`,
    `REFRESH-INTERVAL;VALUE=DURATION:${refreshedAfter}`,
    `X-PUBLISHED-TTL:${refreshedAfter}`,
    ...view.maintenance.flatMap((maintenance) => eventLines(view, maintenance, words)),
    'END:VCALENDAR',
  ];
  return `${lines.map(fold).join('\r\n')}\r\n`;
}

const refreshedAfter = 'PT1H';

function eventLines(view: PageView, maintenance: MaintenanceView, words: FormatWords): string[] {
  const { id, startsMs, endsMs, updatedMs, componentNames } = maintenance;
  const description = [
    ...(maintenance.text === null ? [] : [maintenance.text]),
    ...(componentNames.length === 0 ? [] : [`${words.affected}: ${componentNames.join(', ')}`]),
  ].join('\n\n');
  return [
    'BEGIN:VEVENT',
    `UID:maintenance-${id}@${view.id}`,
    // Without a METHOD it says when the event was last revised (3.8.7.2).
    `DTSTAMP:${instantText(updatedMs)}`,
    `LAST-MODIFIED:${instantText(updatedMs)}`,
    `SEQUENCE:${sequenceOf(updatedMs)}`,
    `DTSTART:${instantText(startsMs)}`,
    // An end must be later than the start (3.8.2.2); an event without one takes no time.
    ...(instantText(endsMs) > instantText(startsMs) ? [`DTEND:${instantText(endsMs)}`] : []),
    `SUMMARY:${escapeText(clean(maintenanceTitle(maintenance, words)))}`,
    ...(description === '' ? [] : [`DESCRIPTION:${escapeText(clean(description))}`]),
    `URL:${maintenanceUrl(view, maintenance)}`,
    'STATUS:CONFIRMED',
    // Readers of a page are free meanwhile.
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ];
}

/** Minutes of the last change: revisions are not counted, and seconds leave the range of the number (2,147,483,647) in 2038. */
const sequenceOf = (updatedMs: number): number => Math.floor(updatedMs / 60_000);

/** Lone surrogates have no form in UTF-8. */
const clean = (text: string): string => text.toWellFormed();

export const calendarDocuments: readonly PageDocument[] = [
  {
    path: '/calendar.ics',
    contentType: 'text/calendar; charset=utf-8',
    isTranslated: false,
    isShared: true,
    render: calendarText,
  },
];
