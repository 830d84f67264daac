import { occurs, searchable } from '../http/keyword.ts';
import type { Comparison, Scalar } from './settings.ts';

/** A comparison with its operand, from a validated assertion. */
export type Test = {
  readonly comparison: Comparison;
  readonly value: Scalar | readonly Scalar[] | undefined;
  readonly ignoreCase: boolean;
  /** Texts are what a header or an answer has: a number is compared with the number that a text is. */
  readonly loose: boolean;
  /** How many patterns share the time that one check may search for. */
  readonly patterns: number;
};

/** The positive form of a comparison, and whether it was turned round. */
const positive = {
  not_equals: 'equals',
  not_contains: 'contains',
  not_matches: 'matches',
  not_exists: 'exists',
} as const satisfies Partial<Record<Comparison, Comparison>>;

/**
 * Whether a comparison holds for the values that a subject has. A positive one holds when one of the values fulfils it; a negative one
 * (`not_…`) when none does, so it holds where there is no value. Undefined when it cannot be told, since a value is too long to be
 * searched whole.
 */
export function holds(test: Test, values: readonly unknown[]): boolean | undefined {
  const { comparison } = test;
  if (comparison in positive) {
    const turned = holds({ ...test, comparison: positive[comparison as keyof typeof positive] }, values);
    return turned === undefined ? undefined : !turned;
  }
  let isOpen = false;
  for (const value of values) {
    const found = holdsFor(test, value);
    if (found === true) return true;
    isOpen ||= found === undefined;
  }
  return isOpen ? undefined : false;
}

function holdsFor(
  { comparison, value: wanted, ignoreCase, loose, patterns }: Test,
  value: unknown,
): boolean | undefined {
  switch (comparison) {
    case 'exists':
      return true;
    case 'equals':
      return isSame(value, wanted, ignoreCase, loose);
    case 'one_of':
      return Array.isArray(wanted) && wanted.some((each) => isSame(value, each, ignoreCase, loose));
    case 'contains':
      return fold(textOf(value), ignoreCase).includes(fold(String(wanted), ignoreCase));
    case 'matches':
      return isMatch(textOf(value), String(wanted), ignoreCase, patterns);
    case 'less':
    case 'at_most':
    case 'more':
    case 'at_least': {
      const order = orderOf(value, wanted);
      if (order === undefined) return false;
      if (comparison === 'less') return order < 0;
      if (comparison === 'at_most') return order <= 0;
      return comparison === 'more' ? order > 0 : order >= 0;
    }
    case 'not_equals':
    case 'not_contains':
    case 'not_matches':
    case 'not_exists':
      throw new Error('A negative comparison was not turned round.');
  }
}

function isSame(value: unknown, wanted: unknown, ignoreCase: boolean, loose: boolean): boolean {
  if (typeof value === 'string' && typeof wanted === 'string')
    return fold(value, ignoreCase) === fold(wanted, ignoreCase);
  if (loose && typeof value === 'string' && typeof wanted === 'number') return numberOf(value) === wanted;
  if (loose && typeof value === 'number' && typeof wanted === 'string') return value === numberOf(wanted);
  return value === wanted;
}

/** The patterns of a tree share the time that one keyword may take, so that none holds up the other checks for longer. */
function isMatch(text: string, pattern: string, ignoreCase: boolean, patterns: number): boolean | undefined {
  const keyword = { pattern, ignore_case: ignoreCase };
  const limit = Math.floor(searchable(keyword) / patterns);
  if (occurs(keyword, text.slice(0, limit))) return true;
  return text.length > limit ? undefined : false;
}

/** Below zero, zero or above: numbers by their value, versions part by part. Undefined when the two cannot be ordered. */
function orderOf(value: unknown, wanted: unknown): number | undefined {
  if (typeof wanted === 'number') {
    const number = typeof value === 'string' ? numberOf(value) : value;
    return typeof number === 'number' && Number.isFinite(number) ? number - wanted : undefined;
  }
  const mine = /\d{1,9}(?:\.\d{1,9})*/.exec(textOf(value).slice(0, 200))?.[0].split('.');
  if (mine === undefined || typeof wanted !== 'string') return undefined;
  const theirs = wanted.split('.');
  for (let index = 0; index < Math.max(mine.length, theirs.length); index += 1) {
    const difference = Number(mine[index] ?? 0) - Number(theirs[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numberOf(text: string): number {
  return /^\s*[-+]?\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : Number.NaN;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function fold(text: string, ignoreCase: boolean): string {
  return ignoreCase ? text.toLowerCase() : text;
}
