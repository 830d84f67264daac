import { readUrl } from '../http/target.ts';
import { asItIs, fill, namesIn } from './templates.ts';

/** Scheme and authority of an absolute URL, as far as they are written; the rest begins with a slash, question mark or nothing. */
const absolute = /^([a-z][a-z0-9+.-]*:\/\/[^/?#\\]*)([^]*)$/i;
const schemes = ['http:', 'https:'];

export type Parts = { readonly origin: string | undefined; readonly rest: string };

/** A step's URL in two parts: where it goes, and what is asked for there. */
export function partsOf(url: string): Parts {
  const match = absolute.exec(url);
  return match === null ? { origin: undefined, rest: url } : { origin: match[1], rest: match[2] ?? '' };
}

/**
 * The origin that a step goes to: its own, made of plain variables only, else that of the target. Secrets and what a server said cannot
 * choose a host, so that who knows the settings knows where secrets go.
 */
export function originOf(url: string, variables: Readonly<Record<string, string>>): string | undefined {
  const { origin } = partsOf(url);
  return origin === undefined ? undefined : fill(origin, new Map(Object.entries(variables)), asItIs);
}

/** What is wrong with where a step's URL goes, or undefined. */
export function destinationProblem(url: string, variables: Readonly<Record<string, string>>): string | undefined {
  const { origin, rest } = partsOf(url);
  if (origin === undefined)
    return /^\/(?![/\\])/.test(url)
      ? undefined
      : 'A URL begins with http://, https:// or, for a path on the target, with /.';
  const unknown = namesIn(origin).find((name) => !Object.hasOwn(variables, name));
  if (unknown !== undefined)
    return `The host may be made of variables only, and there is no variable ${unknown}; a secret or an extracted value cannot choose a host.`;
  const whole = originOf(url, variables) ?? '';
  // A variable may not bring a path along: it would hide where the step goes.
  if (partsOf(whole).rest !== '') return 'The variables of a host hold a host and a port only.';
  const read = readUrl({ url: `${whole}/` }, 'https', schemes);
  if (typeof read === 'string') return read;
  return rest === '' || /^[/?#\\]/.test(rest) ? undefined : 'The URL cannot be read.';
}

/** What decides where secrets go. */
export type Destined = {
  readonly url: string;
  readonly steps: ReadonlyArray<{ readonly url: string }>;
  readonly variables: Readonly<Record<string, string>>;
};

/**
 * Where each secret is sent: the origins of the steps that name it. Redirects lead no further, since they drop credentials. Each name that a
 * template has counts; what is no secret among them does no harm.
 */
export function secretDestinations({ url, steps, variables }: Destined): ReadonlyMap<string, ReadonlySet<string>> {
  const target = canonical(url) ?? url;
  const found = new Map<string, Set<string>>();
  for (const step of steps) {
    const own = originOf(step.url, variables);
    const origin = own === undefined ? target : (canonical(own) ?? own);
    for (const name of namesIn(textsOf(step).join('\n'))) {
      const origins = found.get(name) ?? new Set();
      found.set(name, origins.add(origin));
    }
  }
  return found;
}

/** Names of the secrets that would be sent to an origin with `after` that they were not sent to with `before`. */
export function movedSecrets(before: Destined, after: Destined, names: readonly string[]): readonly string[] {
  const earlier = secretDestinations(before);
  const later = secretDestinations(after);
  return names.filter((name) => [...(later.get(name) ?? [])].some((origin) => earlier.get(name)?.has(origin) !== true));
}

/**
 * The same for settings as they are stored, where the secrets are not known: whether anything that a step names and that is no plain variable
 * would go to another origin. Settings that cannot be read are taken to move.
 */
export function movedCredentials(before: unknown, after: unknown): boolean {
  if (!isDestined(before) || !isDestined(after)) return true;
  const names = [...secretDestinations(after).keys()].filter((name) => !Object.hasOwn(after.variables, name));
  return movedSecrets(before, after, names).length > 0;
}

function isDestined(value: unknown): value is Destined {
  if (typeof value !== 'object' || value === null) return false;
  const { url, steps, variables }: { url?: unknown; steps?: unknown; variables?: unknown } = value;
  const isRead = typeof variables === 'object' && variables !== null && Array.isArray(steps);
  if (typeof url !== 'string' || !isRead) return false;
  const all = new Map(Object.entries(variables));
  return steps.every((step: { readonly url?: unknown } | null) => {
    const own = step?.url;
    return typeof own === 'string' && namesIn(partsOf(own).origin ?? '').every((name) => all.has(name));
  });
}

function canonical(url: string): string | undefined {
  const read = readUrl({ url }, 'https', schemes);
  return typeof read === 'string' ? undefined : read.origin;
}

/** Every text in a value, keys included. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.entries(value).flat().flatMap(textsOf) : [];
}
