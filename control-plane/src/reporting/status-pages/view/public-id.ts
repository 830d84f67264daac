import { createHash } from 'node:crypto';

/** Twelve characters that name a thing which has no public name of its own, the same as long as its parts are. */
export function publicIdOf(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
}
