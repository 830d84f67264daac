import { RE2JS } from 're2js';

/** What is looked for: plain text, or a pattern of the linear-time engine RE2. */
export type Keyword = string | { readonly pattern: string; readonly ignore_case: boolean };

/**
 * The time of a search grows with the text times the size of the compiled pattern, some 40 ns for each character and step in the
 * worst case. A check shares its thread with all others, so both are bounded: a pattern may not have more steps than this, and
 * only so much of the beginning of a body is searched that their product stays below the budget (60 ms).
 */
const maxProgram = 200;
const searchBudget = 1_500_000;
const maxPatternText = 256 * 1024;

const maxKept = 512;
const kept = new Map<string, RE2JS>();

function compile(keyword: { readonly pattern: string; readonly ignore_case: boolean }): RE2JS {
  const key = `${keyword.ignore_case ? 'i' : 's'}${keyword.pattern}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = RE2JS.compile(keyword.pattern, keyword.ignore_case ? RE2JS.CASE_INSENSITIVE : 0);
  const oldest = kept.keys().next();
  if (kept.size >= maxKept && oldest.done !== true) kept.delete(oldest.value);
  kept.set(key, made);
  return made;
}

/** What is wrong with a pattern, or undefined. */
export function patternProblem(keyword: {
  readonly pattern: string;
  readonly ignore_case: boolean;
}): string | undefined {
  let size: number;
  try {
    size = compile(keyword).programSize();
  } catch {
    return `"${keyword.pattern}" is not a pattern of RE2 (no look-around, no back references).`;
  }
  return size > maxProgram
    ? `The pattern is too large (${size} steps, at most ${maxProgram}); use smaller repetitions.`
    : undefined;
}

/** How many characters of a body are searched for this keyword. */
export function searchable(keyword: Keyword): number {
  if (typeof keyword === 'string') return Number.POSITIVE_INFINITY;
  return Math.min(maxPatternText, Math.floor(searchBudget / Math.max(1, compile(keyword).programSize())));
}

/** Whether the keyword occurs in the searchable part of a body's text. */
export function occurs(keyword: Keyword, text: string): boolean {
  if (typeof keyword === 'string') return text.includes(keyword);
  return compile(keyword)
    .matcher(text.slice(0, searchable(keyword)))
    .find();
}

/** The first group of a pattern in the searchable part of a text, the whole match where it has no group; undefined without a match. */
export function firstMatch(pattern: string, text: string): string | undefined {
  const keyword = { pattern, ignore_case: false };
  const matcher = compile(keyword).matcher(text.slice(0, searchable(keyword)));
  if (!matcher.find()) return undefined;
  return matcher.group(matcher.groupCount() > 0 ? 1 : 0) ?? undefined;
}

/** The keyword as it is shown to a person. */
export function shown(keyword: Keyword): string {
  return typeof keyword === 'string' ? `"${keyword.slice(0, 100)}"` : `/${keyword.pattern.slice(0, 100)}/`;
}
