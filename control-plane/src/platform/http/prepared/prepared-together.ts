import type { PreparedAnswers } from './before-routes.ts';

/** Several kinds of prepared answers as one: each path belongs to the first that covers it. */
export function preparedTogether(all: readonly PreparedAnswers[]): PreparedAnswers {
  const of = (path: string) => all.find((one) => one.covers(path));
  return {
    covers: (path) => of(path) !== undefined,
    find: (request) => of(request.path)?.find(request),
    owns: (path) => of(path)?.owns(path) === true,
    isKnown: (request) => of(request.path)?.isKnown?.(request) === true,
    fetch: async (request) => {
      const found = of(request.path);
      if (found === undefined) throw new Error(`nothing is prepared for ${request.path}`);
      return found.fetch(request);
    },
  };
}
