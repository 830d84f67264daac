import type { Listings } from '@parallax/checks';

/** What one probe heard last. Milliseconds since the epoch. */
export type View = { readonly listings: Listings; readonly seenMs: number };

/** The latest run of a list. */
export type Run = {
  readonly provider: string;
  readonly state: Listings[string];
  readonly isListed: boolean;
  readonly isOpen: boolean;
};

/** What becomes of a list's run. */
export type RunChange = {
  readonly provider: string;
  readonly closes: boolean;
  readonly opens: { readonly state: Listings[string]; readonly isListed: boolean } | undefined;
  readonly news: 'dnsbl.listed' | 'dnsbl.delisted' | undefined;
};

/** A probe that was silent for so long while others spoke is not asked any more: who looks tells once a day. */
const silentMs = 3 * 86_400_000;

/**
 * What the probes together say, against what they said before. Of the probes that got an answer from a list the majority has it; when they
 * are split evenly nothing changes, and at first it is not listed. A list that answered nobody is in error, and no news: it is neither listed
 * nor delisted by that. One that nobody asks any more just ends.
 */
export function changesOf(views: readonly View[], runs: readonly Run[]): RunChange[] {
  const latestMs = Math.max(...views.map((view) => view.seenMs));
  const heard = views.filter((view) => view.seenMs > latestMs - silentMs);
  const providers = new Set(heard.flatMap((view) => Object.keys(view.listings)));
  const before = new Map(runs.map((run) => [run.provider, run]));
  const asked = [...providers].sort().flatMap((provider) => changeOf(provider, heard, before.get(provider)));
  const dropped = runs.filter((run) => run.isOpen && !providers.has(run.provider));
  return [...asked, ...dropped.map(({ provider }) => ({ provider, closes: true, opens: undefined, news: undefined }))];
}

function changeOf(provider: string, heard: readonly View[], before: Run | undefined): RunChange[] {
  const states = heard.map((view) => (Object.hasOwn(view.listings, provider) ? view.listings[provider] : undefined));
  const listed = states.filter((state) => state === 'listed').length;
  const clean = states.filter((state) => state === 'clean').length;
  const wasListed = before?.isListed ?? false;
  const isListed = listed === clean ? wasListed : listed > clean;
  const state = listed + clean === 0 ? 'error' : isListed ? 'listed' : 'clean';
  if (before?.isOpen === true && before.state === state && wasListed === isListed) return [];
  const news = isListed === wasListed ? undefined : isListed ? 'dnsbl.listed' : 'dnsbl.delisted';
  return [{ provider, closes: before?.isOpen ?? false, opens: { state, isListed }, news }];
}
