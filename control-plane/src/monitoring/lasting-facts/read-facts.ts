import type { Listings } from '@parallax/checks';

/** What lasts of a result, as a probe told it. Milliseconds since the epoch. */
export type LastingFacts = {
  readonly certificateEndsMs: number | undefined;
  readonly domainEndsMs: number | undefined;
  readonly listings: Listings | undefined;
};

/** A result on its way into the database. */
export type FactualRow = {
  /** Effective time, microseconds. */
  readonly eUs: number;
  readonly monitorId: number;
  /** The probe; 0 for the control plane. */
  readonly voter: number;
  readonly probeRevision: number;
  readonly evidence: { readonly json: string } | undefined;
};

/** The facts of one pair of monitor and probe. */
export type SeenFacts = Omit<FactualRow, 'evidence'> & { readonly facts: LastingFacts };

/** Lists and keyed lists that the settings of a check allow. */
const mostLists = 70;
const longestName = 253;
const listingStates: ReadonlySet<unknown> = new Set(['listed', 'clean', 'error']);
/** The end of the year 9999, which certificates without an end have (RFC 5280, 4.1.2.5). */
const lastMs = Date.UTC(10_000, 0) - 1;

/**
 * What lasts of results: one entry for each monitor and probe, each fact as it was seen last, in a fixed order. Facts of two revisions of a
 * monitor are not mixed: those of the later result stand.
 */
export function seenFacts(rows: readonly FactualRow[]): SeenFacts[] {
  const latest = new Map<string, SeenFacts>();
  for (const { evidence, ...row } of rows) {
    const facts = evidence && readFacts(evidence.json);
    if (facts === undefined) continue;
    const { eUs, monitorId, voter, probeRevision } = row;
    const key = `${monitorId} ${voter}`;
    const now = { eUs, monitorId, voter, probeRevision, facts };
    const known = latest.get(key);
    const [earlier, later] = known !== undefined && known.eUs > eUs ? [now, known] : [known, now];
    const isSame = earlier?.probeRevision === later.probeRevision;
    latest.set(key, isSame ? { ...later, facts: merge(earlier.facts, later.facts) } : later);
  }
  return [...latest.values()].sort((one, other) => one.monitorId - other.monitorId || one.voter - other.voter);
}

function merge(earlier: LastingFacts, later: LastingFacts): LastingFacts {
  return {
    certificateEndsMs: later.certificateEndsMs ?? earlier.certificateEndsMs,
    domainEndsMs: later.domainEndsMs ?? earlier.domainEndsMs,
    listings: later.listings ?? earlier.listings,
  };
}

/** Reads evidence, which is hostile: what is not understood is left out. Undefined when nothing in it lasts. */
export function readFacts(json: string): LastingFacts | undefined {
  const evidence = parsed(json);
  const certificateEndsMs = instantOf(fieldOf(fieldOf(evidence, 'certificate'), 'not_after'));
  const domainEndsMs = instantOf(fieldOf(fieldOf(evidence, 'details'), 'expires'));
  const listings = listingsOf(fieldOf(evidence, 'listings'));
  if (certificateEndsMs === undefined && domainEndsMs === undefined && listings === undefined) return undefined;
  return { certificateEndsMs, domainEndsMs, listings };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

function instantOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || value.length > 40) return undefined;
  const ms = Date.parse(value);
  return ms >= 0 && ms <= lastMs ? ms : undefined;
}

function listingsOf(value: unknown): Listings | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const known = Object.entries(value).flatMap(([list, state]) => {
    const name = list.toWellFormed().replaceAll('\0', '').slice(0, longestName).toWellFormed();
    return name !== '' && listingStates.has(state) ? [[name, state as Listings[string]] as const] : [];
  });
  return known.length === 0 ? undefined : Object.fromEntries(known.slice(0, mostLists));
}
