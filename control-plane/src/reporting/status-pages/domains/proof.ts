import { randomBytes } from 'node:crypto';
import { statusPageLimits } from '@parallax/api-contract';
import type { TxtAnswer } from '../../../platform/dns/txt-records.gateway.ts';

const prefix = 'parallax-domain=';

/** A value that nobody can guess: whoever puts it into the DNS of a domain owns that domain and wants this page there. */
export function newProof(): string {
  return `${prefix}${randomBytes(24).toString('base64url')}`;
}

/** Where the proof must stand. The name is of its own, so that the domain itself may be an alias (RFC 1034, section 3.6.2). */
export function proofName(domain: string): string {
  return `_parallax.${domain}`;
}

/** Whether the proof stands; null: nobody knows. */
export function isProven(answer: TxtAnswer, proof: string): boolean | null {
  // Panels of providers keep quotes and spaces that were copied with the value.
  return answer.kind === 'failed'
    ? null
    : answer.values.some((value) => value.trim().replace(/^"(.*)"$/, '$1') === proof);
}

const mostListed = 3;
const mostCharacters = 100;

/** What was found, for whoever has to mend it. */
export function foundText(domain: string, answer: TxtAnswer): string {
  const name = proofName(domain);
  if (answer.kind === 'failed') return `${name} could not be looked up: ${answer.reason}`;
  if (answer.values.length === 0) return `${name} has no TXT record`;
  const shown = answer.values.slice(0, mostListed).map((value) => JSON.stringify(cut(plain(value))));
  const more = answer.values.length - shown.length;
  return `${name} has ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

// What a stranger wrote into the DNS is shown as it is, without what could turn or break the text around it.
const plain = (text: string): string => text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
const cut = (text: string): string => (text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text);

const dayMs = 86_400_000;

/** What a daily look makes of a verified domain. Times are milliseconds since the epoch. */
export type Standing = { readonly missingMs: number | null; readonly isLost: boolean };

/**
 * A look that got no answer says nothing: name servers that are away for a day take no page from its domain.
 * @param missingMs since when the proof is gone, as was known before; null: it stood
 */
export function standingAfter(proven: boolean | null, missingMs: number | null, nowMs: number): Standing {
  if (proven === null) return { missingMs, isLost: false };
  if (proven) return { missingMs: null, isLost: false };
  const sinceMs = missingMs ?? nowMs;
  return { missingMs: sinceMs, isLost: nowMs - sinceMs >= statusPageLimits.missingDays * dayMs };
}
