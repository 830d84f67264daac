import { Problem } from '@parallax/api-contract';
import type { MonitorView } from '../monitors/index.ts';

/** Monitors of this protocol are API checks; every other one does not exist here. */
export const apiChecks: MonitorView = {
  protocol: 'api',
  notFound: (id) => new Problem('not_found', `there is no API check ${id}`),
};

/** Where a field of a monitor's body stands in that of an API check. */
const places: readonly (readonly [RegExp, string])[] = [
  [/^\/settings(?=\/)/, ''],
  [/^\/monitor_id$/, '/api_check_id'],
];

/** What the rules of monitors refuse, told by the places of a flat body. Anything else is given back as it is. */
export function inFlatBody(error: unknown): unknown {
  if (!(error instanceof Problem) || error.errors === undefined) return error;
  const errors = error.errors.map((each) => (each.in === 'body' ? { ...each, path: flat(each.path) } : each));
  const detail = error.message.replace(/^body (\/\S*)(?=:)/, (_whole, path: string) => `body ${flat(path)}`);
  return new Problem(error.code, detail, { errors, cause: error });
}

function flat<Path extends string>(path: Path): Path {
  // What stands at a place of a body stands at another one afterwards: still a pointer.
  return places.reduce<string>((found, [pattern, place]) => found.replace(pattern, place), path) as Path;
}
