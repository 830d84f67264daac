import type { Matter, Words } from '../words/words.ts';
import { named } from './named.ts';

/** How titles of incidents end that are made by themselves (`incidents/transition.ts`, `incidents/subject-events/event.ts`). */
const endings: readonly (readonly [ending: string, matter: Matter])[] = [
  [' is down', 'down'],
  [' does not answer in time', 'timeout'],
  [' was missed', 'missed'],
  [' has failed', 'failed'],
];

/** The English title of an incident that is over, in the reader's language where it was not written by a person. */
export function pastOf(words: Words, title: string): string {
  const found = endings.find(([ending]) => title.endsWith(ending));
  if (found === undefined) return named(words, title, 200);
  return words.past(named(words, title.slice(0, -found[0].length), 120), found[1]);
}
