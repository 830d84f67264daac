import type { Mutant } from './mutants.ts';
import type { Verdict } from './pool.ts';

export type Judged = { readonly mutant: Mutant; readonly verdict: Verdict };

/** Nothing noticed it. */
export const isLeft = ({ fate }: Verdict): boolean => fate === 'survived' || fate === 'not run';

/** How many of those that were judged were noticed, of 100. */
export function percent(judged: readonly Judged[]): number {
  if (judged.length === 0) return 100;
  return (100 * judged.filter(({ verdict }) => !isLeft(verdict)).length) / judged.length;
}

/** A table for docs/testing.md: a line for each module and one for all. @param listed how many of a module's mutants are equivalent */
export function tableOf(judged: readonly Judged[], listed: (file: string) => number): string {
  const files = [...new Set(judged.map(({ mutant }) => mutant.file))];
  const line = (name: string, own: readonly Judged[], equivalent: number): string => {
    const noticed = own.filter(({ verdict }) => !isLeft(verdict)).length;
    return `| ${name} | ${own.length + equivalent} | ${noticed} | ${equivalent} | ${percent(own).toFixed(1)} % |`;
  };
  return [
    '| module | mutants | noticed | equivalent | score |',
    '|---|---|---|---|---|',
    ...files.map((file) =>
      line(
        `\`${file}\``,
        judged.filter(({ mutant }) => mutant.file === file),
        listed(file),
      ),
    ),
    line(
      'all',
      judged,
      files.reduce((sum, file) => sum + listed(file), 0),
    ),
  ].join('\n');
}
