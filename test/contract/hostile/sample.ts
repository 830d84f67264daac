import type { HostileRequest } from '../../../control-plane/src/platform/http/testing.ts';

/** The hostile requests of a route. */
export type OfRoute<Request> = { readonly route: string; readonly requests: readonly Request[] };

type Tried = Pick<HostileRequest, 'kind' | 'place' | 'part'>;

/**
 * A sample of hostile requests in which each place of a route meets one in `oneIn` hostile parts of its kind. The next place of that kind, in the
 * same route or in the next one, meets the parts that follow: `oneIn` places meet all of them. A place of fewer parts meets one, and where there are
 * fewer places of a kind, each meets as many more.
 * @param seed shifts which parts meet which places
 */
export function sampleOf<Request extends Tried>(
  all: readonly OfRoute<Request>[],
  oneIn: number,
  seed: number,
): readonly OfRoute<Request>[] {
  const routes = all.map(({ route, requests }) => ({
    route,
    places: [...Map.groupBy(requests, ({ kind, place }) => `${kind} ${place}`).values()],
  }));
  const kinds = routes.flatMap(({ places }) => places.map((ofPlace) => ofPlace[0]?.kind ?? ''));
  const share = createShare(
    oneIn,
    seed,
    Map.groupBy(kinds, (kind) => kind),
  );
  return routes.map(({ route, places }) => ({
    route,
    requests: places.flatMap((ofPlace) => share(ofPlace[0]?.kind ?? '', ofPlace)),
  }));
}

/** A sample of cases in which each place keeps one in `oneIn`, the next place those that follow. */
export function oneInEach<Case>(
  cases: readonly Case[],
  placeOf: (one: Case) => string,
  oneIn: number,
  seed: number,
): readonly Case[] {
  const share = createShare(oneIn, seed);
  return [...Map.groupBy(cases, placeOf).values()].flatMap((ofPlace) => share('', ofPlace));
}

/**
 * Takes one in so many of a list, at least one, and begins with the next one when it is called again for the same kind.
 * @param kinds what it will be called for, where all calls for a kind together must take the whole
 */
function createShare(oneIn: number, seed: number, kinds?: ReadonlyMap<string, readonly unknown[]>) {
  const calls = new Map<string, number>();
  return <Item>(kind: string, list: readonly Item[]): readonly Item[] => {
    const number = calls.get(kind) ?? 0;
    calls.set(kind, number + 1);
    const turn = Math.min(oneIn, list.length, kinds?.get(kind)?.length ?? oneIn);
    return list.filter((_item, at) => at % turn === (number + seed) % turn);
  };
}

/** What a sample must not leave out and does: a kind, a parameter or a field of a route, or a hostile part that no route meets. */
export function leftOut<Request extends Tried>(
  all: readonly OfRoute<Request>[],
  sample: readonly OfRoute<Request>[],
): readonly string[] {
  const tried = new Set(namesIn(sample));
  return [...new Set(namesIn(all))].filter((name) => !tried.has(name));
}

function namesIn(list: readonly OfRoute<Tried>[]): readonly string[] {
  return list.flatMap(({ route, requests }) =>
    requests.flatMap(({ kind, place, part }) => [`${route}: ${kind} ${place}`, `${kind} number ${part}`]),
  );
}
