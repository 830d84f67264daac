import type { LoadFnOutput } from 'node:module';

/** The source of a module as a loader hook is given it. */
export function moduleText(source: LoadFnOutput['source']): string {
  return typeof source === 'string' ? source : new TextDecoder().decode(source ?? new Uint8Array());
}
