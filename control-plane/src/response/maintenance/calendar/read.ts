import { maintenanceLimits } from '@parallax/api-contract';
import { readLine, unfold, unescapeText } from './lines.ts';
import type { ContentLine } from './lines.ts';

/** The properties of an event, in the order of the file. */
export type CalendarEvent = { readonly lines: readonly ContentLine[] };

/** What a file holds: its events, or why it is no calendar. */
export type CalendarFile = { readonly events: readonly CalendarEvent[] } | { readonly problem: string };

const mostLinesOfEvent = 2_000;

/** Reads the events of an iCalendar file. What stands inside an event (alarms) or beside them (zones, tasks) is left out. */
export function readCalendar(bytes: Uint8Array): CalendarFile {
  if (bytes.length > maintenanceLimits.fileBytes)
    return { problem: `the file has ${bytes.length} bytes, and ${maintenanceLimits.fileBytes} at most are taken` };
  const text = decoded(bytes);
  if (text === undefined) return { problem: 'the file is not UTF-8' };
  const lines = unfold(text);
  if (lines.at(0)?.trim().toUpperCase() !== 'BEGIN:VCALENDAR')
    return { problem: 'the file is no iCalendar: it does not begin with BEGIN:VCALENDAR' };
  const events: CalendarEvent[] = [];
  const open: string[] = [];
  let event: ContentLine[] = [];
  for (const each of lines) {
    const line = readLine(each);
    // A line that is none is of no property that is looked for.
    if (line === undefined) continue;
    const component = line.value.trim().toUpperCase();
    if (line.name === 'BEGIN') {
      open.push(component);
      if (open.length > 10) return { problem: 'the file nests components more than ten deep' };
      if (component === 'VEVENT') event = [];
    } else if (line.name === 'END') {
      if (open.pop() !== component)
        return { problem: `END:${component.slice(0, 40)} stands where nothing like it is open` };
      if (component !== 'VEVENT') continue;
      if (events.length >= maintenanceLimits.events)
        return { problem: `the file has more than ${maintenanceLimits.events} events` };
      events.push({ lines: event });
    } else if (open.at(-1) === 'VEVENT') {
      if (event.length >= mostLinesOfEvent) return { problem: `an event has more than ${mostLinesOfEvent} lines` };
      event.push(line);
    }
  }
  if (open.length > 0) return { problem: `the file ends inside of ${open.at(-1)?.slice(0, 40)}` };
  return { events };
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    // A byte order mark is taken away.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The text of the first property of a name, or null. */
export function textOf(event: CalendarEvent, name: string): string | null {
  const line = event.lines.find((each) => each.name === name);
  return line === undefined ? null : unescapeText(line.value);
}
