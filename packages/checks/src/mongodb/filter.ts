import type { BsonDocument, BsonValue } from './bson.ts';

/** Operators that run a program on the server. */
const scripts = new Set(['$where', '$function', '$accumulator']);
const maxDepth = 10;

/** What is wrong with the JSON of a filter, or undefined. */
export function filterProblem(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'A filter is a JSON object.';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'A filter is a JSON object.';
  return problemOf(value, 0);
}

function problemOf(value: unknown, depth: number): string | undefined {
  if (depth > maxDepth) return `A filter is nested at most ${maxDepth} deep.`;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    if (scripts.has(name)) return `A filter has no ${name}.`;
    if (name.includes('\0')) return 'A name in a filter holds no NUL.';
    const problem = problemOf(inner, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * A filter that `filterProblem` found nothing wrong with. `{"$date": "…"}` stands for a date, as in the extended JSON of MongoDB.
 */
export function readFilter(text: string): BsonDocument {
  return JSON.parse(text, (_name, value: BsonValue) => {
    if (typeof value !== 'object' || value === null || !('$date' in value)) return value;
    const date = typeof value.$date === 'string' ? new Date(value.$date) : undefined;
    return date === undefined || Number.isNaN(date.getTime()) ? value : date;
  }) as BsonDocument;
}
