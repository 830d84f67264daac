import type { DownReason } from '@parallax/api-contract';
import { cut, isolated, plainLine } from '../plain.ts';
import type { Words } from '../words/words.ts';

/** What a subject told of its own failure. */
export type Said = {
  /** In the reader's language, as far as it is known what it means; empty: it told nothing. */
  readonly sentences: readonly string[];
  /** Its own words, as they came. */
  readonly written: string;
};

/** Longer ones get lines of their own. */
const mostInLine = 280;

/** An exit code, then a reason of heartbeats or what was written: "exit code 2: failed". */
const form = /^(?:exit code (?<code>-?\d{1,10})(?:: ?|\n|$))?(?<rest>[^]*)$/u;

export function saidOf(words: Words, text: string | null): Said {
  const { code, rest = '' } = form.exec(text ?? '')?.groups ?? {};
  const exit = code === undefined ? [] : [words.sentences.exited(code)];
  const known = isDownReason(words, rest) ? words.downReasons[rest] : undefined;
  if (known !== undefined)
    return { sentences: rest === 'failed' && code !== undefined ? exit : [...exit, known], written: '' };
  const first = firstLine(rest);
  return { sentences: first === '' ? exit : [...exit, withStop(first)], written: rest };
}

/** Whether a text needs lines of its own. */
export function isLong(text: string): boolean {
  return text.includes('\n') || text.length > mostInLine;
}

function firstLine(text: string): string {
  const [first = ''] = text.split('\n');
  return isolated(cut(plainLine(first), 300));
}

/** Foreign words keep their case, so a sentence of them has only its end. */
export function withStop(text: string): string {
  return /[.!?…]\u2069?$/u.test(text) ? text : `${text}.`;
}

function isDownReason(words: Words, text: string): text is DownReason {
  return Object.hasOwn(words.downReasons, text);
}
