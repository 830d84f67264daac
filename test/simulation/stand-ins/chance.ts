import { current } from '../engine/current.ts';

/* What the agent draws from `node:crypto`, from the seed of the world. */

export * from 'node:crypto';

export function randomInt(least: number, beyond: number): number {
  return current().engine.current?.random.between(least, beyond - 1) ?? least;
}

export function randomUUID(): string {
  const random = current().engine.current?.random;
  const digits = Array.from({ length: 4 }, () => (random?.between(0, 0xffff_ffff) ?? 0).toString(16).padStart(8, '0'));
  return digits.join('');
}

export function randomBytes(count: number): Buffer {
  const random = current().engine.current?.random;
  return Buffer.from(Array.from({ length: count }, () => random?.between(0, 255) ?? 0));
}
