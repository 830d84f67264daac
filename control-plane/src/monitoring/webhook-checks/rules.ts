import type { PayloadRule, PayloadStatus } from '@parallax/api-contract';
import { occurs, parsePath, searchable, valueAt } from '@parallax/checks';
import type { Json } from './payload.ts';

/** What a payload says by the rules: a status and the rule that decided; or why that cannot be told. */
export type Verdict =
  | { readonly status: PayloadStatus; readonly rule: number | null }
  | { readonly unreadable: 'invalid_json' | 'too_long' };

/**
 * Judges a payload: the first rule that holds decides, and when none does, all is well. A rule that cannot be judged, since the body is no JSON or a text too
 * long for its pattern, leaves it open: to guess past it could turn a failure into its opposite.
 * @param text the body as text
 */
export function judge(rules: readonly PayloadRule[], text: string, json: Json): Verdict {
  const patterns = rules.filter(({ op }) => op === 'matches').length;
  for (const [index, rule] of rules.entries()) {
    const found = holds(rule, text, json, patterns);
    if (typeof found === 'string') return { unreadable: found };
    if (found) return { status: rule.status, rule: index };
  }
  return { status: 'up', rule: null };
}

function holds(
  { path, op, value: wanted }: PayloadRule,
  text: string,
  json: Json,
  patterns: number,
): boolean | 'invalid_json' | 'too_long' {
  if (path !== null && json === undefined) return 'invalid_json';
  const value = path === null ? text : found(path, json?.value);
  switch (op) {
    case 'equals':
      return value === wanted;
    case 'contains':
      if (Array.isArray(value)) return value.includes(wanted);
      return typeof value === 'string' && typeof wanted === 'string' && value.includes(wanted);
    case 'matches':
      return typeof value === 'string' && isMatch(value, String(wanted), patterns);
  }
}

/** A path was judged when it was stored. */
function found(path: string, document: unknown): unknown {
  const parsed = parsePath(path);
  return typeof parsed === 'string' ? undefined : valueAt(document, parsed);
}

/** All patterns of a check share the time that one may take, so that no delivery holds up the others. */
function isMatch(text: string, pattern: string, patterns: number): boolean | 'too_long' {
  const keyword = { pattern, ignore_case: false };
  const limit = Math.floor(searchable(keyword) / Math.max(1, patterns));
  if (occurs(keyword, text.slice(0, limit))) return true;
  return text.length > limit ? 'too_long' : false;
}
