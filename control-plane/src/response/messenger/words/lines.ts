import { nameInHtml } from '../html.ts';
import type { Listed } from './sayings.ts';

const marks: Readonly<Record<string, string>> = {
  UP: '✅',
  DOWN: '🔴',
  TIMEOUT: '🔴',
  DEGRADED: '🟠',
  PARTIAL: '🟠',
  WARNING: '🟡',
  paused: '⏸',
};

type Units = { readonly day: string; readonly hour: string; readonly minute: string; readonly second: string };

/** A line for each monitor: mark, name, number, how it stands and for how long. */
export function listLines(
  monitors: readonly Listed[],
  states: Readonly<Record<string, string>>,
  units: Units,
): readonly string[] {
  return monitors.map(({ id, name, status, isPaused, sinceMs }) => {
    const state = isPaused ? 'paused' : status;
    const told = [states[state] ?? state, ...(sinceMs === null ? [] : [lengthOf(sinceMs, units)])].join(', ');
    const number = id === null ? '' : ` (${id})`;
    return `${marks[state] ?? '⚪'} ${nameInHtml(name, 60)}${number} — ${told}`;
  });
}

/** A length of time in its largest unit. */
function lengthOf(ms: number, units: Units): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} ${units.second}`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} ${units.minute}`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} ${units.hour}`;
  return `${Math.floor(seconds / 86_400)} ${units.day}`;
}
