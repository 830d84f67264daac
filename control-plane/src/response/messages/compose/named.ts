import type { NoticeSubject } from '../notice.ts';
import { cut, isolated } from '../plain.ts';
import type { Counted, Many, Words } from '../words/words.ts';

/** A name in a sentence is no longer than this; the whole of it stands in the data. */
const mostName = 100;
/** Names of several in one line. */
const mostNames = 5;
const mostAmong = 40;

/** A name as a part of a sentence. */
export function named(words: Words, name: string | null | undefined, most = mostName): string {
  return name === null || name === undefined || name === '' ? words.unnamed : isolated(cut(name, most));
}

/** Several in one line: the first names, and how many there are. */
export function manyOf(words: Words, subjects: readonly NoticeSubject[], count: number): Many {
  return {
    count: Math.max(count, subjects.length),
    counted: countedOf(subjects),
    names: subjects.slice(0, mostNames).map(({ name }) => named(words, name, mostAmong)),
  };
}

function countedOf(subjects: readonly NoticeSubject[]): Counted {
  const [type, ...others] = new Set(subjects.map((subject) => subject.type));
  const isOne = others.length === 0 && (type === 'monitor' || type === 'heartbeat' || type === 'webhook_check');
  return isOne ? type : 'check';
}
