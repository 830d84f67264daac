import type { AlertLinkAction } from '@parallax/api-contract';
import { said, smallPage } from '../../../platform/http/page.ts';
import type { Page } from '../../../platform/http/page.ts';
import { escapeHtml } from '../../../platform/mail/letter.ts';
import type { Locale } from '../../messages/index.ts';
import { nextMorning } from './action.ts';
import { linkWords } from './words.ts';

/** What a link is about. Times are milliseconds since the epoch. */
export type LinkSubject = {
  readonly locale: Locale;
  readonly timezone: string;
  readonly title: string;
  readonly incidentId: number | null;
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly isLasting: boolean;
  readonly acknowledgedMs: number | null;
  readonly snoozedUntilMs: number | null;
};

/** The page of a link that works: what it is about, how that stands, and buttons for what can be done. */
export function linkPage(subject: LinkSubject, nowMs: number): Page {
  const words = linkWords[subject.locale];
  const when = (ms: number): string => timeOf(ms, subject);
  const texts = [
    words.since(when(subject.startedMs)),
    ...(subject.endedMs === null ? [] : [words.over(when(subject.endedMs))]),
    ...(isOpen(subject) && subject.acknowledgedMs !== null ? [words.acknowledged] : []),
    ...(isOpen(subject) && isSnoozed(subject, nowMs) ? [words.snoozed(when(subject.snoozedUntilMs ?? 0))] : []),
  ];
  const isDone = !isOpen(subject) || subject.acknowledgedMs !== null || isSnoozed(subject, nowMs);
  return smallPage({
    locale: subject.locale,
    title: words.title,
    parts: [...said(subject.title, [...texts, ...(isDone ? [words.close] : [])]), ...formOf(subject, nowMs)],
  });
}

/** The page of a link that does not work. Nobody knows whose it was, so it speaks the language that is asked for. */
export function noLinkPage(locale: Locale): Page {
  const words = linkWords[locale];
  const [head, text] = words.invalid;
  return smallPage({ locale, title: words.title, parts: said(head, [text]) });
}

/** Whether something can still be done. */
export const isOpen = (subject: Pick<LinkSubject, 'endedMs' | 'isLasting'>): boolean =>
  subject.endedMs === null && subject.isLasting;

const isSnoozed = (subject: LinkSubject, nowMs: number): boolean =>
  subject.snoozedUntilMs !== null && subject.snoozedUntilMs > nowMs;

function formOf(subject: LinkSubject, nowMs: number): string[] {
  if (!isOpen(subject)) return [];
  const words = linkWords[subject.locale];
  const button = (action: AlertLinkAction, text: string, isFirst = false): string =>
    `<button name="action" value="${action}"${isFirst ? '' : ' class="other"'}>${escapeHtml(text)}</button>`;
  const mayAcknowledge = subject.incidentId !== null && subject.acknowledgedMs === null;
  return [
    '<form method="post">',
    ...(mayAcknowledge
      ? [`<p class="hint">${escapeHtml(words.acknowledgeHint)}</p>`, button('acknowledge', words.acknowledge, true)]
      : []),
    `<p class="hint">${escapeHtml(words.snoozeHint)}</p>`,
    button('snooze_1h', words.hour),
    button('snooze_4h', words.fourHours),
    button('snooze_morning', words.until(timeOf(nextMorning(nowMs, subject.timezone), subject))),
    '</form>',
  ];
}

function timeOf(ms: number, { locale, timezone }: Pick<LinkSubject, 'locale' | 'timezone'>): string {
  return new Intl.DateTimeFormat(locale === 'ru' ? 'ru-RU' : 'en-GB', {
    timeZone: timezone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(ms);
}
