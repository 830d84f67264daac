import { getServers } from 'node:dns';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { lazily } from './lazily.ts';
import type { CheckContext, CheckType, Target } from './check.ts';
import { askList, type List, type Listing, type Subject } from './dnsbl/ask.ts';
import { TestEntries } from './dnsbl/test-entry.ts';
import { defaultAddressLists, defaultDomainLists } from './dnsbl/lists.ts';
import { reverseName } from './dns/records.ts';
import { type Endpoint, locate } from './net/dial.ts';
import { endingAfter } from './net/earlier.ts';
import { type Failure, failed, probeFault, timedOut } from './net/failure.ts';
import { parseHost, parseHostPort } from './net/host.ts';
import type { CheckOutcome, Evidence, Listings } from './outcome.ts';

const serverForm = { schemes: {}, defaultPort: 53 };
/** What lists get of the check's time; the rest is for the verdict. */
const listShare = 0.9;
const maxSubjects = 8;
/** At least two labels of letters, digits, underscores and inner dashes. */
const domainName = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;

const zone = lazily(() =>
  z
    .string()
    .max(200)
    .refine((text) => parseHost(text).kind === 'name', 'A list is named by its zone, for example zen.spamhaus.org.'),
);

/** Settings of `dnsbl`. */
export const dnsblSettings = lazily(() =>
  z.strictObject({
    /** Zones of the lists to ask; without any, and without `keyed_lists`, well known ones for the kind of target. */
    lists: z.array(zone()).max(50).default([]),
    /** Lists whose zone holds the key of a subscription, by the name under which they are shown. */
    keyed_lists: z
      .record(z.string().regex(/^[\w.-]{1,60}$/, 'A name has letters, digits, dots and dashes.'), zone())
      .refine((all) => Object.keys(all).length <= 20, 'At most 20 lists with a key.')
      .default({}),
    /** What a name stands for: its registrable domain, or each address that it has now. Addresses are always looked up as such. */
    look_up: z.enum(['domain', 'addresses']).default('domain'),
    /** Listings from which on the check fails; fewer are a warning. */
    fail_listings: z.int().min(1).max(50).default(1),
    /** Answers of lists below which nothing can be said. */
    min_answered: z.int().min(1).max(50).default(1),
    /** Answers that are no listing, for example 127.0.0.10 for an address that a provider declares as dynamic. */
    ignored_answers: z
      .array(z.string().regex(/^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/, 'An answer of a list begins with 127.'))
      .max(50)
      .default([]),
    /** `host` or `host:port` of the name server to ask; absent: the one that the probe itself uses. Many lists refuse public resolvers. */
    server: z
      .string()
      .max(300)
      .refine(
        (text) => typeof parseHostPort(text, serverForm) !== 'string',
        'A name server is written as host or host:port.',
      )
      .optional(),
  }),
);
export type DnsblSettings = z.infer<ReturnType<typeof dnsblSettings>>;

/** Whether an address or a domain stands on lists of senders of spam (RFC 5782). */
export const dnsbl = {
  type: 'dnsbl',
  summary: 'Blocklists: whether an address or domain is listed, and why',
  reference: {
    targets: ['192.0.2.25', 'example.com', '2001:db8::25'],
    phases: ['dns'],
    details: {
      listed: 'Lists that have the address or domain.',
      clean: 'Lists that do not.',
      failed: 'Lists that could not be asked, or did not answer the test entry that every list has.',
    },
  },
  settings: dnsblSettings,
  secretFields: ['keyed_lists'],
  requires: [],
  cheap: false,
  validateTarget: (target) => {
    const host = parseHost(target.url.trim());
    if (host.kind === 'invalid') return host.reason;
    // A list answers "not listed" for what can be no domain at all, which would pass for good.
    const isDomain = host.kind === 'address' || domainName.test(host.name);
    return isDomain ? undefined : `"${host.name}" is neither an address nor a domain such as example.com.`;
  },
  run,
} satisfies CheckType<'dnsbl', ReturnType<typeof dnsblSettings>>;

async function run(target: Target, settings: DnsblSettings, context: CheckContext): Promise<CheckOutcome> {
  const start = context.clock();
  let dnsUs = 0;
  const finish = (failure: Failure | undefined, evidence: Evidence): CheckOutcome => {
    const base = {
      outcome: 'ok',
      total: Math.round((context.clock() - start) * 1000),
      phases: { dns: dnsUs },
    } as const;
    return { ...base, ...failure, evidence };
  };
  const subjects = await subjectsOf(target, settings, context);
  if ('failure' in subjects) return finish(subjects.failure, {});
  const chosen = await chooseServer(settings, context);
  if ('failure' in chosen) return finish(chosen.failure, {});
  const { all, areAddresses } = subjects;
  const lists = listsOf(settings, areAddresses);
  const earlier = endingAfter(context, context.timeoutMs * listShare);
  const tests = new TestEntries(chosen.server, earlier.context);
  const proofOf: TestEntries['proofOf'] = (list, subject) => tests.proofOf(list, subject);
  const asked = lists.flatMap((list) =>
    all.map(async (subject) => {
      const listing = await askList(list, subject, settings.ignored_answers, chosen.server, earlier.context, proofOf);
      context.trace?.('dnsbl', `${subject.shown}: ${sentenceOf(listing)}`);
      return listing;
    }),
  );
  const listings = await Promise.all(asked);
  earlier.release();
  dnsUs = Math.round((context.clock() - start) * 1000);
  return finish(judge(listings, settings), evidenceOf(listings, chosen.server));
}

type Subjects = { readonly all: readonly Subject[]; readonly areAddresses: boolean } | { readonly failure: Failure };

async function subjectsOf(target: Target, settings: DnsblSettings, context: CheckContext): Promise<Subjects> {
  const host = parseHost(target.url.trim());
  if (host.kind === 'invalid') throw new Error(`The target was not validated: ${host.reason}`);
  if (host.kind === 'address') return { all: [addressSubject(host.address)], areAddresses: true };
  if (settings.look_up === 'domain') {
    const { getDomain } = await import('tldts');
    const domain = getDomain(host.name, { allowPrivateDomains: true }) ?? host.name;
    const subject = { shown: domain, label: domain, isDomain: true, neverListed: 'invalid', alwaysListed: ['test'] };
    return { all: [subject], areAddresses: false };
  }
  const resolution = await context.resolver.resolve(host.name, {
    signal: context.signal,
    deadlineMs: context.timeoutMs,
  });
  if (!resolution.ok) return { failure: resolution.failure };
  return { all: resolution.addresses.slice(0, maxSubjects).map(addressSubject), areAddresses: true };
}

/** Nothing is sent to the address itself, so it is not judged. IPv4 inside of IPv6 is looked up as IPv4. */
function addressSubject(address: string): Subject {
  const plain = ipaddr.process(address.replace(/%.*$/, ''));
  const v4 = plain.kind() === 'ipv4';
  const [neverListed, alwaysListed] = v4 ? ['127.0.0.1', '127.0.0.2'] : ['::ffff:7f00:1', '::ffff:7f00:2'];
  return {
    shown: plain.toString(),
    label: reversed(plain.toString()),
    isDomain: false,
    neverListed: reversed(neverListed),
    alwaysListed: [reversed(alwaysListed)],
  };
}

function reversed(address: string): string {
  return reverseName(address).replace(/\.(?:in-addr|ip6)\.arpa$/, '');
}

function listsOf(settings: DnsblSettings, areAddresses: boolean): readonly List[] {
  const keyed = Object.entries(settings.keyed_lists).map(([label, zone]) => ({ label, zone }));
  const named = settings.lists.map((zone) => ({ label: zone, zone }));
  if (keyed.length + named.length > 0) return [...named, ...keyed];
  return (areAddresses ? defaultAddressLists : defaultDomainLists).map((zone) => ({ label: zone, zone }));
}

/** A name server that the customer names is judged like any target; the probe's own is the operator's choice. */
async function chooseServer(
  settings: DnsblSettings,
  context: CheckContext,
): Promise<{ readonly server: Endpoint } | { readonly failure: Failure }> {
  const text = settings.server ?? getServers()[0];
  if (text === undefined) return { failure: probeFault('probe_internal', 'This probe has no name server of its own.') };
  if (settings.server === undefined && isIP(text) !== 0) return { server: { address: text, port: 53 } };
  const parsed = parseHostPort(text, serverForm);
  if (typeof parsed === 'string') return { failure: probeFault('probe_internal', parsed) };
  const host = parsed.host.replace(/^\[|\]$/g, '');
  if (settings.server === undefined) return { server: { address: host, port: parsed.port } };
  const located = await locate(parsed.host, parsed.port, context);
  return located.ok ? { server: located.endpoint } : { failure: located.failure };
}

function judge(listings: readonly Listing[], settings: DnsblSettings): Failure | undefined {
  const listed = listings.filter((each) => each.kind === 'listed');
  const broken = listings.filter((each) => each.kind === 'failed');
  const answered = listings.length - broken.length;
  if (listed.length > 0) {
    const named = listed.slice(0, 3).map((each) => sentenceOf(each));
    const message = `${subjectNames(listed)} on ${listed.length} of ${answered} lists: ${named.join('; ')}`;
    const failure = failed('dnsbl_listed', `${message.slice(0, 500)}.`);
    return listed.length >= settings.fail_listings ? failure : { ...failure, outcome: 'warn' };
  }
  if (answered >= Math.min(settings.min_answered, listings.length)) return undefined;
  const source = settings.server === undefined ? 'resolver' : 'target';
  const named = broken.slice(0, 3).map((each) => sentenceOf(each));
  const message = `${answered} of ${listings.length} lists answered: ${named.join('; ')}`.slice(0, 500);
  const late = broken.length > 0 && broken.every((each) => each.late);
  return late
    ? timedOut('dnsbl_unavailable', `${message}.`, source)
    : failed('dnsbl_unavailable', `${message}.`, source);
}

function subjectNames(listings: readonly Listing[]): string {
  const names = [...new Set(listings.map((each) => each.subject))];
  return `${names.slice(0, 3).join(', ')} ${names.length > 1 ? 'stand' : 'stands'}`;
}

function sentenceOf(listing: Listing): string {
  if (listing.kind === 'clean') return `${listing.label} has no entry`;
  if (listing.kind === 'failed') return `${listing.label} ${listing.reason}`;
  const reason = listing.reason === '' ? '' : `, ${listing.reason.replace(/\.+$/, '')}`;
  return `${listing.label} (${listing.codes.join(', ')}${reason})`;
}

/** Counts, then the lists that have something to say: `lists` of them fit into the bounds of the details. */
function evidenceOf(listings: readonly Listing[], server: Endpoint): Evidence {
  const count = (kind: Listing['kind']) => listings.filter((each) => each.kind === kind).length;
  const telling = [
    ...listings.filter((each) => each.kind === 'listed'),
    ...listings.filter((each) => each.kind === 'failed'),
  ];
  const details: Record<string, string | number> = {
    listed: count('listed'),
    clean: count('clean'),
    failed: count('failed'),
  };
  for (const each of telling.slice(0, 26)) {
    const key = each.label.slice(0, 100);
    details[key] = `${details[key] === undefined ? '' : `${details[key]}; `}${each.subject}: ${sentenceOf(each)}`.slice(
      0,
      500,
    );
  }
  const answers = listings
    .flatMap((each) => (each.kind === 'listed' ? [sentenceOf(each).slice(0, 500)] : []))
    .slice(0, 50);
  return { ...server, answers, listings: listingsOf(listings), details };
}

/** By list: listed when any address is; clean only when it said so of all of them. */
function listingsOf(listings: readonly Listing[]): Listings {
  const rank = { clean: 0, error: 1, listed: 2 } as const;
  const found = new Map<string, keyof typeof rank>();
  for (const { label, kind } of listings) {
    const state = kind === 'failed' ? 'error' : kind;
    const before = found.get(label);
    if (before === undefined || rank[state] > rank[before]) found.set(label, state);
  }
  return Object.fromEntries(found);
}
