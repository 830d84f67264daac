import { RE2JS } from 're2js';
import { maxPatternCharacters, type PatternText, readPattern } from './pattern-text.ts';

/** A pattern of the linear-time engine RE2. */
export type Pattern = { readonly pattern: string; readonly ignore_case: boolean };
/** What is looked for: plain text, or a pattern. */
export type Keyword = string | Pattern;

/**
 * The time of a search grows with the text times the size of the compiled pattern, some 40 ns for each character and step in the
 * worst case. A check shares its thread with all others, so both are bounded: a pattern may not have more steps than this, and
 * only so much of the beginning of a body is searched that their product stays below the budget (60 ms).
 */
const maxSteps = 256;
const searchBudget = 1_500_000;
const maxPatternText = 256 * 1024;
/** What one pattern may take to compile (1 ms), and what all patterns of one check may (10 ms). */
const maxWeight = 512;
const maxWeightTogether = 4096;
/** The most characters that all patterns of one check have together. */
const maxCharactersTogether = 16_384;

const maxKept = 512;
const kept = new Map<string, RE2JS>();

/** Compiles a pattern that was judged, and keeps it: its size is bounded. */
function compile(keyword: Pattern): RE2JS {
  const key = `${keyword.ignore_case ? 'i' : 's'}${keyword.pattern}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = RE2JS.compile(keyword.pattern, keyword.ignore_case ? RE2JS.CASE_INSENSITIVE : 0);
  const oldest = kept.keys().next();
  if (kept.size >= maxKept && oldest.done !== true) kept.delete(oldest.value);
  kept.set(key, made);
  return made;
}

/** What is wrong with a pattern, or undefined. Its text tells that: nothing is compiled, and nothing is kept of what is refused. */
export function patternProblem({ pattern, ignore_case: ignoresCase }: Pattern): string | undefined {
  return problemOf(pattern, readPattern(pattern, ignoresCase));
}

/** What is wrong with patterns of one check: with one of them, by its index, or with all together. Empty when nothing is. */
export function problemsOf(
  patterns: readonly Pattern[],
): readonly { readonly index: number | undefined; readonly problem: string }[] {
  const characters = patterns.reduce((sum, { pattern }) => sum + pattern.length, 0);
  if (characters > maxCharactersTogether) {
    const problem = `The patterns of a check have ${maxCharactersTogether} characters together at most; these have ${characters}.`;
    return [{ index: undefined, problem }];
  }
  const texts = patterns.map(({ pattern, ignore_case: ignoresCase }) => readPattern(pattern, ignoresCase));
  const problems = patterns.flatMap(({ pattern }, index) => {
    const text = texts[index];
    const problem = text && problemOf(pattern, text);
    return problem === undefined ? [] : [{ index, problem }];
  });
  const weight = texts.reduce((sum, text) => (text.isPattern ? sum + text.weight : sum), 0);
  if (problems.length > 0 || weight <= maxWeightTogether) return problems;
  const problem = `The patterns of a check have ${maxWeightTogether} steps together at most, and a Unicode class counts as many; these have ${weight}.`;
  return [{ index: undefined, problem }];
}

function problemOf(pattern: string, text: PatternText): string | undefined {
  if (!text.isPattern)
    return `"${pattern.slice(0, maxPatternCharacters)}" is not a pattern of RE2 (no look-around, no back references, at most ${maxPatternCharacters} characters).`;
  if (text.steps > maxSteps)
    return `The pattern is too large (${text.steps} steps, at most ${maxSteps}); use smaller repetitions.`;
  return text.weight > maxWeight
    ? 'The pattern takes too long to prepare; use fewer Unicode classes and, where case is ignored, narrower ranges.'
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
