import type { Outcome, Part } from './tasks.ts';
import { parts } from './tasks.ts';

/** All that is told of a long run, in one line of JSON. */
export type Figures = {
  readonly broken: number;
  readonly parts: Partial<Record<Part, Readonly<Record<string, number>>>>;
};

/** Sums the outcomes by part. */
export function figuresOf(outcomes: readonly Outcome[]): Figures {
  const byPart = Map.groupBy(outcomes, ({ task }) => task.part);
  const told: Figures['parts'] = {};
  for (const part of parts) {
    const own = byPart.get(part);
    if (own === undefined) continue;
    told[part] = { ...sumsOf(own), ...(part === 'days' ? detection(own) : {}), worker_seconds: secondsOf(own) };
  }
  const names = new Set(outcomes.flatMap(({ task }) => (task.part === 'properties' ? [task.name] : [])));
  if (told.properties !== undefined) told.properties = { properties: names.size, ...told.properties };
  return { broken: outcomes.reduce((sum, { broken }) => sum + broken.length, 0), parts: told };
}

function sumsOf(outcomes: readonly Outcome[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { counts } of outcomes)
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

/** How far detection is beyond twice the interval and 15 s; below zero: within. */
function detection(outcomes: readonly Outcome[]): Record<string, number> {
  const beyond = outcomes.flatMap(({ beyondMs }) => beyondMs).sort((a, b) => a - b);
  const at = (share: number): number =>
    (beyond[Math.min(beyond.length - 1, Math.floor(beyond.length * share))] ?? 0) / 1_000;
  return { beyond_p50_s: at(0.5), beyond_p99_s: at(0.99), beyond_most_s: at(1) };
}

const secondsOf = (outcomes: readonly Outcome[]): number =>
  Math.round(outcomes.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1_000);
