import { createHash } from 'node:crypto';
import type { AlertLinkAction } from '@parallax/api-contract';
import { escapeHtml } from '../../../platform/mail/letter.ts';
import type { Locale } from '../../messages/locale.ts';
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

const style = `
:root { color-scheme: light dark; }
body { margin: 0; padding: 10vh 16px; background: Canvas; color: CanvasText; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 420px; margin: auto; }
h1 { font-size: 22px; line-height: 1.3; overflow-wrap: anywhere; }
button { box-sizing: border-box; width: 100%; margin-top: 12px; padding: 10px 12px; border: 1px solid GrayText; border-radius: 8px; background: Canvas; color: CanvasText; font: inherit; cursor: pointer; }
button.first { border: 0; background: #1d4f91; color: #fff; font-weight: 600; }
p.hint { margin: 24px 0 0; }
:focus-visible { outline: 3px solid #4c8ad6; outline-offset: 2px; }
`;

/** No script at all; the form goes to this very origin. */
export const linkPagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** The page of a link that works: what it is about, how that stands, and buttons for what can be done. */
export function linkPage(subject: LinkSubject, nowMs: number): string {
  const words = linkWords[subject.locale];
  const when = (ms: number): string => timeOf(ms, subject);
  const said = [
    words.since(when(subject.startedMs)),
    ...(subject.endedMs === null ? [] : [words.over(when(subject.endedMs))]),
    ...(isOpen(subject) && subject.acknowledgedMs !== null ? [words.acknowledged] : []),
    ...(isOpen(subject) && isSnoozed(subject, nowMs) ? [words.snoozed(when(subject.snoozedUntilMs ?? 0))] : []),
  ];
  const isDone = !isOpen(subject) || subject.acknowledgedMs !== null || isSnoozed(subject, nowMs);
  const parts = [
    `<div role="status">`,
    `<h1>${escapeHtml(subject.title)}</h1>`,
    ...said.map((line) => `<p>${escapeHtml(line)}</p>`),
    ...(isDone ? [`<p>${escapeHtml(words.close)}</p>`] : []),
    '</div>',
    ...formOf(subject, nowMs),
  ];
  return documentOf(subject.locale, words.title, parts);
}

/** The page of a link that does not work. Nobody knows whose it was, so it speaks the language that is asked for. */
export function noLinkPage(locale: Locale): string {
  const words = linkWords[locale];
  const [head, text] = words.invalid;
  return documentOf(locale, words.title, [
    `<div role="status">`,
    `<h1>${escapeHtml(head)}</h1>`,
    `<p>${escapeHtml(text)}</p>`,
    '</div>',
  ]);
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
    `<button name="action" value="${action}"${isFirst ? ' class="first"' : ''}>${escapeHtml(text)}</button>`;
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

function documentOf(locale: Locale, title: string, parts: readonly string[]): string {
  return `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<p>Parallax</p>
${parts.join('\n')}
</main>
</body>
</html>
`;
}
