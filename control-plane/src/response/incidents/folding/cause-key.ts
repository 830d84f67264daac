/** A vote of the evidence, with what was kept of the failure behind it. */
export type ExplainedVote = {
  readonly voter: number;
  readonly vote: 'UP' | 'DEGRADED' | 'WARNING' | 'DOWN' | 'TIMEOUT';
  /** Error code of a failure. */
  readonly code: string | undefined;
  /** In which step it failed. */
  readonly phase: 'dns' | 'connect' | 'tls' | 'answer' | null;
  /** As the probe sent it: hostile. */
  readonly evidence: unknown;
};

/** The name server itself failed; that a name does not exist is not its fault. */
const faultsOfNameServers = new Set(['dns_timeout', 'dns_servfail', 'dns_refused']);

/** A host that does not answer at all, which is found in no step of a connection. */
const faultsOfHosts = new Set(['ping_no_reply']);

/**
 * What an outage has in common with others of its cause, for folding; null when nothing tells. Connect errors go by address, TLS errors by
 * certificate, faults of name servers by name server. A probe is the cause only when its votes alone explain the outage: the others see the
 * target up. Where failing probes name different causes, the one that most of them name counts.
 */
export function causeKey(votes: readonly ExplainedVote[]): string | null {
  const failing = votes.filter(({ vote }) => vote === 'DOWN' || vote === 'TIMEOUT');
  const [first] = failing;
  if (first === undefined) return null;
  if (failing.length === 1 && votes.length > 1) return `probe:${first.voter}`;
  const counts = new Map<string, number>();
  for (const vote of failing) {
    const key = keyOf(vote);
    if (key !== null) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  // A tie goes by the text, so that the order of the votes does not matter.
  const [most] = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  return most?.[0] ?? null;
}

function keyOf({ code, phase, evidence }: ExplainedVote): string | null {
  const facts = record(evidence);
  const address = text(facts['address']);
  if (code !== undefined && faultsOfNameServers.has(code)) return address === null ? null : `name_server:${address}`;
  if (phase === 'tls') {
    const fingerprint = text(record(facts['certificate'])['fingerprint_sha256']);
    return fingerprint === null ? null : `certificate:${fingerprint}`;
  }
  const isOfHost = phase === 'connect' || (code !== undefined && faultsOfHosts.has(code));
  return isOfHost && address !== null && !isOwnHost(address) ? `address:${address}` : null;
}

/** Loopback and link-local addresses (RFC 1122, 3927, 4291): another host for each probe, so they say nothing in common. */
const isOwnHost = (address: string): boolean =>
  /^(127\.|169\.254\.|::1$|fe[89ab])/i.test(address.replace(/^::ffff:/i, ''));

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const text = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length <= 200 ? value : null;
