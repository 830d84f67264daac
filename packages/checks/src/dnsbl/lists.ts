/** Lists that are asked about an address when the monitor names none. Each publishes its policy and takes questions without registration in small amounts. */
export const defaultAddressLists: readonly string[] = [
  'zen.spamhaus.org',
  'bl.spamcop.net',
  'b.barracudacentral.org',
  'psbl.surriel.com',
  'dnsbl.dronebl.org',
  'all.s5h.net',
  'bl.blocklist.de',
  'dnsbl-1.uceprotect.net',
  'spam.dnsbl.anonmails.de',
  'truncate.gbudb.net',
];

/** Lists that are asked about a domain when the monitor names none. */
export const defaultDomainLists: readonly string[] = ['dbl.spamhaus.org', 'multi.surbl.org', 'multi.uribl.com'];

/** What a list says by one answer (RFC 5782, 2.1). `listed`: the codes that were not among the ignored ones. */
export type Verdict =
  | { readonly kind: 'listed'; readonly codes: readonly string[] }
  | { readonly kind: 'clean' }
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * Reads the A records that a list answered with. An entry lies in 127.0.0.0/8. 127.255.255.x says why the list did not look
 * (Spamhaus: 252 a name that is no list, 254 asked through an open resolver, 255 too many questions), 127.0.0.1 the same at URIBL;
 * neither is an entry. An address elsewhere comes from a domain that is no list any more.
 */
export function readAnswers(addresses: readonly string[], ignored: readonly string[]): Verdict {
  const foreign = addresses.find((each) => !each.startsWith('127.'));
  if (foreign !== undefined) return { kind: 'failed', reason: `answers ${foreign}, which no list does` };
  const refusal = addresses.find((each) => each.startsWith('127.255.255.') || each === '127.0.0.1');
  if (refusal !== undefined) return { kind: 'failed', reason: refusalReason(refusal) };
  const codes = addresses.filter((each) => !ignored.includes(each));
  return codes.length === 0 ? { kind: 'clean' } : { kind: 'listed', codes };
}

function refusalReason(code: string): string {
  switch (code) {
    case '127.255.255.252':
      return `says that its name is written wrongly (${code})`;
    case '127.255.255.254':
      return `refuses questions through this public resolver (${code})`;
    case '127.255.255.255':
      return `refuses because of too many questions (${code})`;
    default:
      return `refuses to answer (${code})`;
  }
}
