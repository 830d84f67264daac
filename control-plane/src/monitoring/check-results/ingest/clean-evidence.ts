/** Levels of nesting that evidence has at most. */
const deepest = 6;
const longestMessage = 2_000;

/**
 * The evidence of a probe as text that PostgreSQL takes as jsonb. What a probe sends is hostile: it may be no JSON, hold NUL or half a
 * surrogate pair, or be nested thousands deep, and each of these would fail the transaction that carries everybody else's results.
 */
export function cleanEvidence(json: string): string {
  try {
    return JSON.stringify(cleaned(JSON.parse(json), deepest) ?? {});
  } catch {
    return '{}';
  }
}

/** One line for a person, bounded, without what the database refuses. */
export function cleanMessage(message: string): string {
  return cleanText(message.slice(0, longestMessage));
}

function cleaned(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return null;
  if (Array.isArray(value)) return value.map((item) => cleaned(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [cleanText(key), cleaned(item, levels - 1)]));
}

const cleanText = (text: string): string => text.toWellFormed().replaceAll('\0', '');
