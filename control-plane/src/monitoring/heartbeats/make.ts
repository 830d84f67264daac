import { randomInt, randomUUID } from 'node:crypto';
import { randomKeyKind } from '../../platform/crypto/random-key.ts';

const secretKind = randomKeyKind('plb_');

/** A new secret of a heartbeat; only its hash is kept. */
export function makeSecret(): string {
  return secretKind.make();
}

/** A new uuid of a heartbeat, which is the secret of its ping URL: 122 random bits. */
export function makeUuid(): string {
  return randomUUID();
}

const mostSlug = 100;

/** A slug made from a name: what has no form in lower-case ASCII is left out. */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^[-_]+|-+$/g, '')
    .slice(0, mostSlug - 10)
    .replaceAll(/-+$/g, '');
  return plain === '' ? `heartbeat-${randomInt(100_000, 1_000_000)}` : plain;
}

/** The slug itself, or with the least number behind it that is free. @param isFree also false for words that no slug may be */
export function freeSlug(wanted: string, isFree: (slug: string) => boolean): string {
  if (isFree(wanted)) return wanted;
  for (let number = 2; ; number += 1) if (isFree(`${wanted}-${number}`)) return `${wanted}-${number}`;
}
