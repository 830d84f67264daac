import { wallOf } from '../recurrence/zone.ts';
import { wallText } from './times.ts';

const dayMs = 86_400_000;

/**
 * A VTIMEZONE (RFC 5545, 3.6.5) for the changes of a zone's offset within a time: each change is a part of its own, since the rules behind
 * them are not known here. A program that knows the zone by its name uses its own.
 */
export function zoneLines(zone: string, fromMs: number, toMs: number): string[] {
  const offsetAt = (ms: number): number => wallOf(ms, zone) - ms;
  const changes: { readonly ms: number; readonly before: number; readonly after: number }[] = [];
  let known = offsetAt(fromMs);
  for (let day = fromMs + dayMs; day <= toMs; day += dayMs) {
    const offset = offsetAt(day);
    if (offset === known) continue;
    changes.push({ ms: changeWithin(offsetAt, day - dayMs, day), before: known, after: offset });
    known = offset;
  }
  const first = offsetAt(fromMs);
  const standard = Math.min(first, ...changes.map(({ after }) => after));
  const parts = [{ ms: fromMs, before: first, after: first }, ...changes];
  return [
    'BEGIN:VTIMEZONE',
    `TZID:${zone}`,
    ...parts.flatMap(({ ms, before, after }) => {
      const name = after > standard ? 'DAYLIGHT' : 'STANDARD';
      return [
        `BEGIN:${name}`,
        // By the wall clock of before the change.
        `DTSTART:${wallText(ms + before)}`,
        `TZOFFSETFROM:${offsetText(before)}`,
        `TZOFFSETTO:${offsetText(after)}`,
        `END:${name}`,
      ];
    }),
    'END:VTIMEZONE',
  ];
}

/** The first second of another offset between two instants with different ones. */
function changeWithin(offsetAt: (ms: number) => number, fromMs: number, toMs: number): number {
  let low = Math.floor(fromMs / 1_000);
  let high = Math.ceil(toMs / 1_000);
  const before = offsetAt(low * 1_000);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * 1_000) === before) low = middle;
    else high = middle;
  }
  return high * 1_000;
}

function offsetText(ms: number): string {
  const seconds = Math.abs(ms) / 1_000;
  const two = (value: number): string => String(value).padStart(2, '0');
  const rest = seconds % 60;
  const text = two(Math.floor(seconds / 3_600)) + two(Math.floor((seconds % 3_600) / 60)) + (rest > 0 ? two(rest) : '');
  return (ms < 0 ? '-' : '+') + text;
}
