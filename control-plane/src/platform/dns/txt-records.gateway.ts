import { Resolver } from 'node:dns/promises';

/** What the DNS says of the TXT records of a name. `failed`: nobody knows, since no name server gave an answer that counts. */
export type TxtAnswer =
  | { readonly kind: 'records'; readonly values: readonly string[] }
  | { readonly kind: 'failed'; readonly reason: string };

const tryTimeoutMs = 1_500;
const tries = 2;
/** Whatever the servers do, an answer or its absence is known after so long. */
const deadlineMs = 5_000;

/**
 * Asks for the TXT records of a name, each with its parts joined (RFC 7208, section 3.3). A name that does not exist has none.
 * @param servers `address` or `address:port`; undefined: those of the system
 */
export async function txtRecordsOf(name: string, servers: readonly string[] | undefined): Promise<TxtAnswer> {
  // One for each question: c-ares cancels all that a resolver has under way, never a single one.
  const resolver = new Resolver({ timeout: tryTimeoutMs, tries });
  if (servers !== undefined) resolver.setServers(servers);
  const timer = setTimeout(() => resolver.cancel(), deadlineMs);
  try {
    const records = await resolver.resolveTxt(name);
    return { kind: 'records', values: records.map((parts) => parts.join('')) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return code === 'ENODATA' || code === 'ENOTFOUND' ? { kind: 'records', values: [] } : failure(code);
  } finally {
    clearTimeout(timer);
  }
}

function failure(code: string): TxtAnswer {
  const reasons: Readonly<Record<string, string>> = {
    ETIMEOUT: 'no name server answered in time',
    ECANCELLED: 'no name server answered in time',
    ECONNREFUSED: 'no name server could be reached',
    EREFUSED: 'the name server refused the question',
  };
  return { kind: 'failed', reason: reasons[code] ?? 'the name server failed' };
}
