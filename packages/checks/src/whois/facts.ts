/** What a registry says about a domain, whichever protocol it said it by. */
export type DomainFacts = {
  /** Milliseconds since 1970; undefined where the registry publishes no end. */
  readonly expiresAt: number | undefined;
  readonly registrar: string | undefined;
  /** Lower case, without the final dot, sorted. */
  readonly nameServers: readonly string[];
  /** EPP status codes in camelCase (RFC 5731), for example `clientHold`. */
  readonly statuses: readonly string[];
};

/** What an answer turned out to be. */
export type Reading =
  | { readonly kind: 'found'; readonly facts: DomainFacts }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'rate_limited' }
  | { readonly kind: 'unreadable' };

/** A text of the other side, without control characters and of a bounded length; undefined when nothing is left. */
export function cleanText(text: string, maxLength = 200): string | undefined {
  const clean = text
    .replace(/[\p{Cc}\p{Cf}\ufffd]+/gu, ' ')
    .trim()
    .slice(0, maxLength);
  return clean === '' ? undefined : clean;
}

/** Names as they are compared, at most thirteen (as many as a delegation has). */
export function nameServerList(names: readonly string[]): readonly string[] {
  const plain = names
    .map((each) => each.toLowerCase().replace(/\.$/, ''))
    .filter((each) => /^[a-z0-9._-]{3,253}$/.test(each));
  return [...new Set(plain)].sort().slice(0, 13);
}

/** `client hold` of RDAP (RFC 8056) and `clientHold https://icann.org/epp#clientHold` of WHOIS are the same status. */
export function statusList(texts: readonly string[]): readonly string[] {
  const codes = texts.map((text) =>
    text
      .replace(/\s*\(?https?:.*$/, '')
      .trim()
      .replace(/[\s_-]+([a-zA-Z])/g, (_match, letter: string) => letter.toUpperCase())
      .replace(/^[A-Z]/, (letter) => letter.toLowerCase()),
  );
  return [...new Set(codes.filter((each) => /^[a-zA-Z]{2,40}$/.test(each)))].slice(0, 20);
}
