/*
 * Text as the messenger reads it under `parse_mode: HTML` (https://core.telegram.org/bots/api#html-style): only these three characters have to be
 * replaced, and quotes in attributes. Directions of writing are kept apart, so that a name cannot turn around what stands behind it.
 */

const replaced: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for the messenger's HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => replaced[character] ?? character);
}

// Marks, embeddings and isolates of bidirectional text; joiners stay, since scripts need them.
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const controls = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/**
 * A name that somebody gave, in one line, isolated from what stands beside it, and escaped.
 * @param most UTF-16 code units that are kept, by which the messenger counts the length of a text
 */
export function nameInHtml(name: string, most = 80): string {
  const plain = name.replaceAll(directions, '').replaceAll(controls, ' ').trim();
  return `\u2068${escapeHtml(plain.length > most ? `${firstOf(plain, most - 1)}…` : plain)}\u2069`;
}

/** As many whole characters as fit. */
function firstOf(text: string, most: number): string {
  let kept = '';
  for (const character of text) {
    if (kept.length + character.length > most) break;
    kept += character;
  }
  return kept;
}
