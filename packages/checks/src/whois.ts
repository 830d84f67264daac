import { z } from 'zod';
import { lazily } from './lazily.ts';
import type { CheckContext, CheckType, Target } from './check.ts';
import { endingAfter } from './net/earlier.ts';
import { type Failure, failed } from './net/failure.ts';
import { authorities } from './net/connection-settings.ts';
import { parseHost, parseHostPort } from './net/host.ts';
import type { CheckOutcome, Evidence } from './outcome.ts';
import { askRdap } from './whois/ask-rdap.ts';
import { askWhois, whoisForm } from './whois/ask-whois.ts';
import { cleanText, type DomainFacts, nameServerList, statusList } from './whois/facts.ts';
import type { LookedUp, Progress } from './whois/lookup.ts';
import { rdapServerOf, whoisServerOf } from './whois/servers.ts';

const dayMs = 86_400_000;
/** What RDAP gets of the time while WHOIS stands behind it. */
const rdapShare = 0.5;

/** Settings of `whois` and `rdap`. */
export const whoisSettings = lazily(() =>
  z.strictObject({
    /** Base address of the RDAP server; absent: that of the registry. With one of the two servers given, only that one is asked. */
    rdap_server: z
      .string()
      .max(500)
      .refine((text) => isBaseUrl(text), 'An RDAP server is written as https://host/path/, without a query.')
      .optional(),
    /** `host` or `host:port` of the WHOIS server; absent: that of the registry. */
    whois_server: z
      .string()
      .max(300)
      .refine(
        (text) => typeof parseHostPort(text, whoisForm) !== 'string',
        'A WHOIS server is written as host or host:port.',
      )
      .optional(),
    /** Days before the end of the registration from which on the check warns; 0 switches it off. */
    warn_days_before_expiry: z.int().min(0).max(3650).default(30),
    /** Fewer days than these fail the check; 0 means only an expired domain does. */
    min_days: z.int().min(0).max(3650).default(0),
    /** Fails where the registry publishes no end; without it only the rest is looked at. */
    require_expiry: z.boolean().default(true),
    /** Must occur in the name of the registrar; upper and lower case are the same. */
    expected_registrar: z.string().min(1).max(200).optional(),
    /** The name servers that the registry must have, all of them and no others. */
    expected_name_servers: z.array(z.string().min(1).max(253)).max(13).default([]),
    /** Statuses that fail the check: a domain with one of these does not resolve or is about to be deleted. */
    forbidden_statuses: z
      .array(z.string().min(1).max(60))
      .max(20)
      .default(['clientHold', 'serverHold', 'inactive', 'redemptionPeriod', 'pendingDelete']),
    verify_tls: z.boolean().default(true),
    /** Authorities in PEM form to trust instead of the public ones, for an RDAP server of one's own. */
    ca_certificates: authorities().optional(),
    ip_version: z.union([z.literal(4), z.literal(6)]).optional(),
  }),
);
export type WhoisSettings = z.infer<ReturnType<typeof whoisSettings>>;

/** The registration of a domain: RDAP first, WHOIS behind it. */
export const whois = registrationCheck('whois');
/** The same under its newer name. */
export const rdap = registrationCheck('rdap');

function registrationCheck<Name extends 'whois' | 'rdap'>(type: Name) {
  return {
    type,
    summary: "A domain's registration: days until it expires, registrar, servers",
    reference: {
      targets: ['example.com'],
      settings: { min_days: 7 },
      phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
      details: {
        server: 'The server that answered.',
        registrar: 'The registrar.',
        expires: 'End of the registration.',
        days_left: 'Whole days until then.',
        status: 'Statuses of the domain.',
        name_servers: 'Its name servers.',
      },
    },
    settings: whoisSettings,
    secretFields: [],
    requires: [],
    cheap: false,
    validateTarget: (target) => {
      const host = parseHost(target.url.trim());
      if (host.kind === 'invalid') return host.reason;
      if (host.kind === 'address') return 'A registration is looked up for a domain, not for an address.';
      return host.name.includes('.') ? undefined : `"${host.name}" is not a domain such as example.com.`;
    },
    run,
  } satisfies CheckType<Name, ReturnType<typeof whoisSettings>>;
}

function isBaseUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.search === '' && url.hash === '' && url.username === '' && url.password === '';
}

async function run(target: Target, settings: WhoisSettings, context: CheckContext): Promise<CheckOutcome> {
  const host = parseHost(target.url.trim());
  if (host.kind !== 'name') throw new Error('The target was not validated.');
  const start = context.clock();
  const now = (context.wallClock ?? Date.now)();
  const { getDomain } = await import('tldts');
  const domain = getDomain(host.name) ?? host.name;
  const progress: Progress = { phases: {} };
  const found = await lookUp(domain, settings, context, progress);
  const failure = found.ok ? judge(domain, found.facts, settings, now) : ofRegistry(found.failure, settings);
  return {
    outcome: 'ok',
    total: Math.round((context.clock() - start) * 1000),
    phases: progress.phases,
    ...failure,
    evidence: evidenceOf(domain, progress, found, failure !== undefined, now),
  };
}

/** A server that nobody named is the registry's: that it cannot be asked says nothing about the domain. */
function ofRegistry(failure: Failure, settings: WhoisSettings): Failure {
  const isNamed = settings.rdap_server !== undefined || settings.whois_server !== undefined;
  const isWord = failure.code === 'whois_not_found' || failure.code === 'whois_no_server';
  if (isNamed || isWord || failure.source !== 'target') return failure;
  return { ...failure, source: 'resolver' };
}

async function lookUp(
  domain: string,
  settings: WhoisSettings,
  context: CheckContext,
  progress: Progress,
): Promise<LookedUp> {
  const oneNamed = settings.rdap_server !== undefined || settings.whois_server !== undefined;
  const rdapServer = settings.rdap_server ?? (oneNamed ? undefined : rdapServerOf(domain));
  const whoisServer =
    settings.whois_server === undefined
      ? oneNamed
        ? undefined
        : whoisServerOf(domain)
      : { server: settings.whois_server, viaIana: false };
  let first: LookedUp | undefined;
  if (rdapServer !== undefined) {
    const earlier = endingAfter(context, context.timeoutMs * (whoisServer === undefined ? 1 : rdapShare));
    first = await askRdap(rdapServer, domain, settings, earlier.context, progress);
    earlier.release();
    const enough = first.ok ? first.facts.expiresAt !== undefined : first.final;
    if (enough || whoisServer === undefined) return first;
    context.trace?.('whois', first.ok ? 'RDAP says no end; asking by WHOIS' : first.failure.message);
  }
  if (whoisServer === undefined) throw new Error('There is always a server to ask.');
  const second = await askWhois(whoisServer, domain, settings, context, progress);
  // Without more from WHOIS, what RDAP said stands.
  return first?.ok === true && !(second.ok && second.facts.expiresAt !== undefined) ? first : second;
}

/** The first thing that is wrong, gravest first. */
function judge(domain: string, facts: DomainFacts, settings: WhoisSettings, now: number): Failure | undefined {
  const { expiresAt, registrar, nameServers, statuses } = facts;
  const days = expiresAt === undefined ? undefined : Math.floor((expiresAt - now) / dayMs);
  const until = expiresAt === undefined ? '' : new Date(expiresAt).toISOString().slice(0, 10);
  if (days !== undefined && days < 0) return failed('whois_expired', `The domain ${domain} expired on ${until}.`);
  const forbidden = new Set(statusList(settings.forbidden_statuses));
  const held = statuses.filter((each) => forbidden.has(each));
  if (held.length > 0) return failed('whois_status', `The domain ${domain} has the status ${held.join(', ')}.`);
  const soon = `The domain ${domain} expires in ${days} days, on ${until}.`;
  if (days !== undefined && days < settings.min_days) return failed('whois_expires_soon', soon);
  const wanted = settings.expected_registrar;
  if (wanted !== undefined && registrar?.toLowerCase().includes(wanted.toLowerCase()) !== true)
    return failed('whois_registrar', `The registrar is ${registrar ?? 'not named'}; expected is ${wanted}.`);
  const expected = nameServerList(settings.expected_name_servers);
  if (expected.length > 0 && expected.join(' ') !== nameServers.join(' ')) {
    const said = nameServers.length === 0 ? 'nothing' : nameServers.slice(0, 5).join(', ').slice(0, 250);
    const asked = expected.slice(0, 5).join(', ').slice(0, 250);
    return failed('whois_name_servers', `The name servers of ${domain} are ${said}; expected is ${asked}.`);
  }
  if (days === undefined) {
    if (!settings.require_expiry) return undefined;
    return failed('whois_no_date', `The registry publishes no end of the registration of ${domain}.`);
  }
  if (days < settings.warn_days_before_expiry)
    return { outcome: 'warn', source: 'target', code: 'whois_expires_soon', message: soon };
  return undefined;
}

function evidenceOf(domain: string, progress: Progress, found: LookedUp, bad: boolean, now: number): Evidence {
  const { endpoint, server, answer } = progress;
  const facts = found.ok ? found.facts : undefined;
  const details: Record<string, string | number> = { domain };
  if (server !== undefined) details['server'] = server.slice(0, 300);
  if (facts?.registrar !== undefined) details['registrar'] = facts.registrar;
  if (facts?.expiresAt !== undefined) {
    details['expires'] = new Date(facts.expiresAt).toISOString();
    details['days_left'] = Math.floor((facts.expiresAt - now) / dayMs);
  }
  if (facts !== undefined) {
    details['name_servers'] = facts.nameServers.join(' ').slice(0, 500);
    details['status'] = facts.statuses.join(' ').slice(0, 500);
  }
  const body = bad && answer !== undefined ? shown(answer) : undefined;
  return { ...endpoint, ...(body !== undefined && { body }), details };
}

/** At most 4 KiB of an answer, as text. */
function shown(answer: string): string | undefined {
  const lines = answer
    .slice(0, 8192)
    .split(/\r?\n/)
    .map((line) => cleanText(line, 500) ?? '');
  const text = lines.join('\n').trim();
  const cut = Buffer.from(text)
    .subarray(0, 4096)
    .toString('utf8')
    .replace(/\ufffd$/, '');
  return cut === '' ? undefined : cut;
}
