/** A notification that is to be sent and belongs to no message yet. Times are milliseconds since the epoch. */
export type Waiting = {
  readonly id: number;
  /** When it became due. */
  readonly dueMs: number;
  /** It was held in quiet hours: told together with the others. */
  readonly afterQuiet: boolean;
};

/** What a target was sent lately. */
export type Lately = {
  /** Messages of their own in the last minute. */
  readonly own: number;
  /** When the last digest was made; null: none in the last minute. */
  readonly digestMs: number | null;
};

export type Bundle = { readonly kind: 'own' | 'digest' | 'after_quiet'; readonly ids: readonly number[] };

export type Bundled = {
  readonly bundles: readonly Bundle[];
  /** The rest waits until then. */
  readonly waitUntilMs: number | null;
};

/** Messages of their own for each target and minute. */
export const ownPerMinute = 5;
/** A digest waits so long for more, unless one is made of what has waited since the last. */
export const gatherMs = 15_000;
export const digestEveryMs = 60_000;

/**
 * What of the notifications for one target goes in messages of its own and what in a digest. The first five of a minute go alone, and the rest
 * in one digest a minute, so whoever waits is told within a minute.
 * @param waiting in the order in which they are to be told
 * @param isGathered false: a service that keeps open alarms, which is told each thing in a message of its own
 */
export function bundle(waiting: readonly Waiting[], lately: Lately, isGathered: boolean, nowMs: number): Bundled {
  const own = (some: readonly Waiting[]): Bundle[] => some.map(({ id }) => ({ kind: 'own', ids: [id] }));
  if (!isGathered) return { bundles: own(waiting), waitUntilMs: null };
  const quiet = waiting.filter(({ afterQuiet }) => afterQuiet);
  // One that was held alone is told as it would have been.
  const alone = quiet.length === 1 ? [] : quiet;
  const others = waiting.filter((each) => !alone.includes(each));
  const bundles: Bundle[] = alone.length > 0 ? [{ kind: 'after_quiet', ids: alone.map(({ id }) => id) }] : [];
  const room = Math.max(0, ownPerMinute - lately.own);
  bundles.push(...own(others.slice(0, room)));
  const rest = others.slice(room);
  const [first] = rest;
  if (first === undefined) return { bundles, waitUntilMs: null };
  const gatheredMs = Math.min(...rest.map(({ dueMs }) => dueMs)) + gatherMs;
  const dueMs = lately.digestMs === null ? gatheredMs : Math.max(gatheredMs, lately.digestMs + digestEveryMs);
  if (dueMs > nowMs) return { bundles, waitUntilMs: dueMs };
  bundles.push(
    rest.length === 1 ? { kind: 'own', ids: [first.id] } : { kind: 'digest', ids: rest.map(({ id }) => id) },
  );
  return { bundles, waitUntilMs: null };
}
