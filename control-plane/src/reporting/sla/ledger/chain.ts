import { createHash } from 'node:crypto';

/** The place where a chain ends. */
export type ChainHead = {
  /** 0: it has no entry yet. */
  readonly seq: number;
  /** SHA-256, 32 bytes; zeros before the first entry. */
  readonly digest: Buffer;
};

/** An entry in its place. */
export type ChainLink = ChainHead & { readonly entry: string };

/** Where every chain begins. */
export const chainStart: ChainHead = { seq: 0, digest: Buffer.alloc(32) };

/** Appends an entry: its digest covers that of the one before, and so all before it. */
export function nextLink(head: ChainHead, entry: string): ChainLink {
  const digest = createHash('sha256').update(head.digest).update(entry, 'utf8').digest();
  return { seq: head.seq + 1, digest, entry };
}

/**
 * Follows links from a head and says where the first one is that does not follow: its entry or digest was changed, or one is missing.
 * @returns the head that was reached; `brokenAt` is the number of the first link that is wrong
 */
export function followChain(
  head: ChainHead,
  links: Iterable<ChainLink>,
): { readonly head: ChainHead; readonly brokenAt: number | null } {
  let at = head;
  for (const link of links) {
    const expected = nextLink(at, link.entry);
    if (link.seq !== expected.seq || !link.digest.equals(expected.digest)) return { head: at, brokenAt: at.seq + 1 };
    at = link;
  }
  return { head: at, brokenAt: null };
}
