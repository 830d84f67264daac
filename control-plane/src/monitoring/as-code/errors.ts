import { ExplainedError } from '../../platform/explained-error.ts';

/** Where something stands in a file, counted from 1. */
export type Place = { readonly file: string; readonly line: number; readonly column: number };

export type Fault = { readonly place: Place; readonly message: string };

/** Something that a person can mend: printed without a stack. */
export class AsCodeError extends ExplainedError {
  override readonly name = 'AsCodeError';
}

/** More of them help nobody. */
const mostShown = 20;

/** Everything that is wrong with files, one line each, as compilers write it. */
export function faultsError(faults: readonly Fault[]): AsCodeError {
  const lines = faults
    .slice(0, mostShown)
    .map(({ place, message }) => `${place.file}:${place.line}:${place.column}: ${message}`);
  if (faults.length > mostShown) lines.push(`and ${faults.length - mostShown} more`);
  return new AsCodeError(`the files cannot be applied, and nothing was changed:\n${lines.join('\n')}`);
}
