import type { Notice } from '../notice.ts';
import { plainLine, plainLines } from '../plain.ts';

/** More of a text than this is never shown, so it is not looked at either. */
const mostRead = 20_000;
/** Texts that may have lines. */
const withLines = new Set(['said', 'text', 'closing']);

/** A notice whose every text is plain. Nothing of it is looked at before this. */
export function cleaned(notice: Notice): Notice {
  return cleanedValue(notice, '') as Notice;
}

function cleanedValue(value: unknown, key: string): unknown {
  if (typeof value === 'string') {
    const text = value.slice(0, mostRead);
    return withLines.has(key) ? plainLines(text) : plainLine(text);
  }
  if (Array.isArray(value)) return value.map((each) => cleanedValue(each, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cleanedValue(each, name)]));
}
