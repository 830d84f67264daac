import { createHash } from 'node:crypto';
import { isListed } from './equivalents.ts';
import type { GroupMutants } from './group-mutants.ts';

/** Numbers of so many mutants of a group, spread over it: always the same ones as long as their lines are. */
export function sampleOf({ mutants }: GroupMutants, count: number): number[] {
  const keyed = mutants.flatMap((mutant, id) => {
    const { file, text, before, after } = mutant;
    const key = createHash('sha256')
      .update(JSON.stringify([file, text, before, after]))
      .digest('hex');
    return isListed(mutant) ? [] : [{ id, key }];
  });
  return keyed
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .slice(0, count)
    .map(({ id }) => id)
    .sort((a, b) => a - b);
}
