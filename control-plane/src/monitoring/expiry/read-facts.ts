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

/** What lasts of results, the latest of each monitor and probe, in a fixed order. */
export function seenFacts(rows: readonly FactualRow[]): SeenFacts[] {
  const latest = new Map<string, SeenFacts>();
  for (const { evidence, eUs, monitorId, voter, probeRevision } of rows) {
    const facts = evidence && readFacts(evidence.json);
    if (facts === undefined) continue;
    const key = `${monitorId} ${voter}`;
    if (eUs >= (latest.get(key)?.eUs ?? 0)) latest.set(key, { eUs, monitorId, voter, probeRevision, facts });
  }
  return [...latest.values()].sort((one, other) => one.monitorId - other.monitorId || one.voter - other.voter);
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
