import type { Locale } from '../view/locale.ts';

const formats = new Map<string, Intl.DateTimeFormat>();

/** A time by the wall clock of a zone: `27 Nov 2026, 14:03 GMT+1`. */
export function timeText(ms: number, zone: string, locale: Locale): string {
  const key = `${locale} ${zone}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(locale === 'ru' ? 'ru' : 'en-GB', {
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      timeZone: zone,
      timeZoneName: 'short',
    });
    // Making one takes a hundred times as long as using it. There are some 600 zones, in two languages.
    formats.set(key, format);
  }
  return format.format(ms);
}
