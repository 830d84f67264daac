const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const timePart = '(?:[T\\s]+(\\d{1,2}):(\\d{2})(?::(\\d{2}))?)?';

/** Year first: 2027-08-13T04:00:00Z, 2027/08/13, 2027.08.13 12:00:00, "2027. 08. 13.". */
const yearFirst = new RegExp(`^(\\d{4})[-/.]\\s?(\\d{1,2})[-/.]\\s?(\\d{1,2})\\.?${timePart}`);
/** 20270813, with a time in some registries. */
const compact = /^(\d{4})(\d{2})(\d{2})(?:\s|T|$)/;
/** Day first: 13.08.2027, 13/08/2027, 13-08-2027. */
const dayFirst = new RegExp(`^(\\d{1,2})[-/.]\\s?(\\d{1,2})[-/.]\\s?(\\d{4})\\.?${timePart}`);
/** 13-Aug-2027, 13 August 2027, "Fri 13 Aug 2027". */
const dayNamedMonth = new RegExp(
  `^(?:[a-z]{3,9},?\\s+)?(\\d{1,2})(?:st|nd|rd|th)?[-\\s.]([a-z]{3,9})\\.?[-\\s,]\\s?(\\d{4})${timePart}`,
  'i',
);
/** August 13 2027, Aug 13, 2027. */
const namedMonthDay = new RegExp(
  `^(?:[a-z]{3,9},?\\s+)?([a-z]{3,9})\\.?\\s+(\\d{1,2})(?:st|nd|rd|th)?,?\\s+(\\d{4})${timePart}`,
  'i',
);
/** Fri Aug 13 04:00:00 UTC 2027. */
const unixDate = /^[a-z]{3}\s+([a-z]{3})\s+(\d{1,2})\s+(\d{1,2}):(\d{2}):(\d{2})\s+(?:[A-Z]{2,5}\s+)?(\d{4})/i;
const offsetPart = /([+-])(\d{2}):?(\d{2})$/;

/**
 * A date as registries write it, in milliseconds since 1970; undefined for anything else. What says no zone is UTC, what has only
 * numbers and the day or month first is read day first, unless that cannot be.
 */
export function parseDate(text: string): number | undefined {
  const plain = text.trim().slice(0, 60);
  let found = yearFirst.exec(plain);
  if (found !== null) return at(plain, found[1], found[2], found[3], found.slice(4));
  found = compact.exec(plain);
  if (found !== null) return at('', found[1], found[2], found[3], []);
  found = dayFirst.exec(plain);
  if (found !== null) {
    const monthFirst = Number(found[2]) > 12;
    return at('', found[3], monthFirst ? found[1] : found[2], monthFirst ? found[2] : found[1], found.slice(4));
  }
  found = dayNamedMonth.exec(plain);
  if (found !== null) return at('', found[3], monthOf(found[2]), found[1], found.slice(4));
  found = unixDate.exec(plain);
  if (found !== null) return at('', found[6], monthOf(found[1]), found[2], found.slice(3, 6));
  found = namedMonthDay.exec(plain);
  if (found !== null) return at('', found[3], monthOf(found[1]), found[2], found.slice(4));
  return undefined;
}

function monthOf(name: string | undefined): string {
  return String(months.indexOf((name ?? '').slice(0, 3).toLowerCase()) + 1);
}

function at(
  whole: string,
  yearText: string | undefined,
  monthText: string | undefined,
  dayText: string | undefined,
  time: readonly (string | undefined)[],
): number | undefined {
  const [year, month, day] = [Number(yearText), Number(monthText), Number(dayText)];
  const [hour = 0, minute = 0, second = 0] = time.map((each) => Number(each ?? 0));
  const ms = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(ms);
  // A day that the month does not have, or a month that the year does not have, is no date.
  if (year < 1985 || year > 2200 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const offset = time[0] === undefined ? null : offsetPart.exec(whole);
  if (offset === null) return ms;
  const minutes = Number(offset[2]) * 60 + Number(offset[3]);
  return offset[1] === '+' ? ms - minutes * 60_000 : ms + minutes * 60_000;
}
