import type { Locale } from '../../messages/index.ts';

/** An instant as people read it, in their zone and with its name: "24 Nov, 03:10 (Europe/Berlin)". */
export function clockTime(ms: number, locale: Locale, timezone: string): string {
  const format = new Intl.DateTimeFormat(locale === 'ru' ? 'ru' : 'en-GB', {
    timeZone: timezone,
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return `${format.format(ms)} (${timezone})`;
}
