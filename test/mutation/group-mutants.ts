import { readFileSync } from 'node:fs';
import path from 'node:path';
import { mutate } from './mutants.ts';
import type { MutatedFile, Mutant } from './mutants.ts';
import type { Group } from './targets.ts';

export const root = path.resolve(import.meta.dirname, '../..');

/** The mutants of a group, numbered through its modules: parent and workers come to the same numbers. */
export type GroupMutants = {
  readonly files: readonly { readonly mutated: MutatedFile; readonly firstId: number }[];
  /** By number. */
  readonly mutants: readonly Mutant[];
  /** By number of a mutant the number of the first one of its place, which stands for whether the place was passed. */
  readonly placeOf: readonly number[];
};

export function mutantsOfGroup({ modules }: Pick<Group, 'modules'>): GroupMutants {
  const files: GroupMutants['files'][number][] = [];
  const mutants: Mutant[] = [];
  const placeOf: number[] = [];
  for (const { file, functions } of modules) {
    const mutated = mutate(file, readFileSync(path.join(root, file), 'utf8'), functions);
    files.push({ mutated, firstId: mutants.length });
    for (const site of mutated.sites) {
      const firstId = mutants.length;
      for (const { mutant } of site.mutants) {
        mutants.push(mutant);
        placeOf.push(firstId);
      }
    }
  }
  return { files, mutants, placeOf };
}
