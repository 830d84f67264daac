import type { CheckOutcome, Evidence, Listings } from '../outcome.ts';

/** Facts that hold from one check to the next. Dates as they stand in the evidence, ISO 8601. */
export type KnownFacts = {
  readonly certificateEnds: string | undefined;
  readonly domainEnds: string | undefined;
  readonly listings: Listings | undefined;
  /** What each list said when it last gave an answer; one that never did is missing. */
  readonly answered: Listings;
};

/** The part of evidence that lasts: the certificate, the end of a domain's registration, what blocklists say. */
export function lastingFactsOf({ certificate, listings, details }: Evidence): Evidence {
  const expires = details?.['expires'];
  return {
    ...(certificate && { certificate }),
    ...(listings && { listings }),
    ...(typeof expires === 'string' && { details: { expires } }),
  };
}

/**
 * What is remembered of it; undefined where nothing lasts, such as when a TLS session was resumed and no certificate was shown.
 * @param before what was remembered: a list that gives no answer now stands as it last said
 */
export function knownFactsOf(evidence: CheckOutcome['evidence'], before?: KnownFacts): KnownFacts | undefined {
  const { certificate, listings, details } = evidence ?? {};
  const expires = details?.['expires'];
  const domainEnds = typeof expires === 'string' ? expires : undefined;
  if (certificate === undefined && listings === undefined && domainEnds === undefined) return undefined;
  return {
    certificateEnds: certificate?.not_after,
    domainEnds,
    listings,
    answered: answeredOf(listings ?? {}, before?.answered ?? {}),
  };
}

function answeredOf(listings: Listings, before: Listings): Listings {
  const known = Object.entries(listings).flatMap(([list, state]) => {
    const answer = state === 'error' ? before[list] : state;
    return answer === undefined ? [] : [[list, answer] as const];
  });
  return Object.fromEntries(known);
}

/**
 * How facts differ: `errors` when it is only which blocklists gave no answer. A fact that is missing now has not changed: a check that failed
 * early did not come to see it.
 */
export function compareFacts(before: KnownFacts, now: KnownFacts): 'same' | 'errors' | 'changed' {
  if (now.certificateEnds !== undefined && now.certificateEnds !== before.certificateEnds) return 'changed';
  if (now.domainEnds !== undefined && now.domainEnds !== before.domainEnds) return 'changed';
  if (now.listings === undefined) return 'same';
  if (!areEqual(before.answered, now.answered)) return 'changed';
  return areEqual(before.listings ?? {}, now.listings) ? 'same' : 'errors';
}

function areEqual(one: Listings, other: Listings): boolean {
  const lists = Object.keys(one);
  return lists.length === Object.keys(other).length && lists.every((list) => one[list] === other[list]);
}
