import type { CheckContext, Target } from '../check.ts';
import { failed, type Failure } from './failure.ts';
import { parseHost } from './host.ts';
import type { ResolveOptions, Resolution, Resolver } from './resolve.ts';

/** Addresses that one check looks at. */
export const maxAddresses = 16;

/** What a run on one address gave; `address` is undefined where the check resolved no name. */
export type Branch<Result> = { readonly address: string | undefined; readonly dnsUs: number; readonly result: Result };

/**
 * Runs a check once on each address of its target's name, all at the same time. The first run goes on with the first address, the
 * others are started when it has asked for the name; each sees only its own address for that name, and every other name as it is, so
 * that all judging of addresses stays where it is. A target without a name is run once. Gives the runs in the order of the addresses.
 */
export async function onEachAddress<Result>(
  target: Target,
  context: CheckContext,
  run: (context: CheckContext) => Promise<Result>,
): Promise<readonly Branch<Result>[]> {
  const host = hostOf(target.url);
  const others: Promise<Branch<Result>>[] = [];
  let first: { readonly address: string; readonly dnsUs: number } | undefined;
  let expanding: Promise<Resolution> | undefined;

  const startOthers = (resolution: Resolution) => {
    if (!resolution.ok) return;
    const [address = '', ...rest] = resolution.addresses;
    const dnsUs = resolution.durationUs;
    first = { address, dnsUs };
    for (const each of rest) {
      const pinned = pinnedTo(context, host ?? '', each, dnsUs);
      const running = run(pinned).then((result) => ({ address: each, dnsUs, result }));
      // Awaited below; until then a defect must not count as nobody's.
      running.catch(() => undefined);
      others.push(running);
    }
  };
  const resolver: Resolver = {
    resolve: async (name, options) => {
      if (host === undefined || normal(name) !== host) return context.resolver.resolve(name, options);
      if (expanding === undefined) {
        expanding = everyAddress(context.resolver, name, options);
        startOthers(await expanding);
      }
      const resolution = await expanding;
      return resolution.ok ? { ...resolution, addresses: resolution.addresses.slice(0, 1) } : resolution;
    },
  };
  const result = await run({ ...context, resolver });
  return [{ address: first?.address, dnsUs: 0, result }, ...(await Promise.all(others))];
}

function pinnedTo(context: CheckContext, host: string, address: string, durationUs: number): CheckContext {
  const { trace } = context;
  const resolver: Resolver = {
    resolve: async (name, options) =>
      normal(name) === host ? { ok: true, addresses: [address], durationUs } : context.resolver.resolve(name, options),
  };
  return { ...context, resolver, trace: trace && ((step, detail) => trace(step, `[on ${address}] ${detail}`)) };
}

/** The addresses of both families, or of the one that is wanted, in turns, so that a long list of one does not push out the other. */
async function everyAddress(resolver: Resolver, name: string, options: ResolveOptions): Promise<Resolution> {
  const families = options.family === undefined ? ([4, 6] as const) : [options.family];
  const answers = await Promise.all(families.map((family) => resolver.resolve(name, { ...options, family })));
  const durationUs = Math.max(...answers.map((each) => each.durationUs));
  const lists = answers.map((each) => (each.ok ? each.addresses : []));
  const longest = Math.max(...lists.map((each) => each.length));
  const inTurns = Array.from({ length: longest }, (_none, index) => lists.flatMap((list) => list[index] ?? [])).flat();
  const addresses = [...new Set(inTurns)].slice(0, maxAddresses);
  return addresses.length > 0
    ? { ok: true, addresses, durationUs }
    : { ok: false, failure: failureOf(name, answers), durationUs };
}

function failureOf(name: string, answers: readonly Resolution[]): Failure {
  const failures = answers.flatMap((each) => (each.ok ? [] : [each.failure]));
  const graver = failures.find(({ code }) => code !== 'address_family_missing');
  if (graver !== undefined) return graver;
  const only = failures.length === 1 ? failures[0] : undefined;
  return only ?? failed('dns_no_answer', `The name ${name} exists but has no address.`);
}

/** The host of a target in one spelling, whatever stands around it; undefined when it cannot be read. */
function hostOf(url: string): string | undefined {
  const rest = url
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/[/?#].*$/s, '');
  return normal(/^\[[^\]]*\]/.exec(rest)?.[0] ?? rest.replace(/:\d{1,5}$/, ''));
}

function normal(text: string): string | undefined {
  const host = parseHost(text);
  if (host.kind === 'invalid') return undefined;
  return host.kind === 'name' ? host.name.toLowerCase().replace(/\.$/, '') : host.address;
}
