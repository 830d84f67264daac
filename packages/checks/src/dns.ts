import { getServers } from 'node:dns';
import { isIP } from 'node:net';
import { z } from 'zod';
import { lazily } from './lazily.ts';
import type { CheckContext, CheckType, Target } from './check.ts';
import { askServer, type Question, transports, type Way } from './dns/query.ts';
import { normaliseValue, recordTypes, reverseName, valueOf } from './dns/records.ts';
import { type Endpoint, locate } from './net/dial.ts';
import { type Failure, failed, probeFault } from './net/failure.ts';
import { authorities } from './net/connection-settings.ts';
import { parseHost, parseHostPort } from './net/host.ts';
import type { CheckOutcome, Evidence, Phases } from './outcome.ts';

const serverForm = { schemes: {}, defaultPort: 53 };
const usualPort = { udp: 53, tcp: 53, tls: 853, https: 443 } as const;

/** Settings of `dns`. */
export const dnsSettings = lazily(() =>
  z
    .strictObject({
      record_type: z.enum(recordTypes).default('A'),
      /** `host` or `host:port` of the name server to ask; absent: the one that the probe itself uses. */
      server: z
        .string()
        .max(300)
        .refine(
          (text) => typeof parseHostPort(text, serverForm) !== 'string',
          'A name server is written as host or host:port.',
        )
        .optional(),
      /** How the server is spoken to; `tls` is DNS over TLS (port 853), `https` DNS over HTTPS (port 443). */
      transport: z.enum(transports).default('udp'),
      /** Where a server over HTTPS takes questions. */
      https_path: z
        .string()
        .max(500)
        .regex(/^\/[!-~]*$/, 'A path begins with / and has neither spaces nor other characters than those of ASCII.')
        .default('/dns-query'),
      /** Name in the certificate of a server over TLS or HTTPS, when it is not the host of `server`. */
      server_name: z
        .string()
        .refine((name) => parseHost(name).kind === 'name', 'A server name is a host name.')
        .optional(),
      /** Whether the certificate of a server over TLS or HTTPS has to be right. */
      verify_tls: z.boolean().default(true),
      /** Authorities in PEM form to trust instead of the public ones. */
      ca_certificates: authorities().optional(),
      /** Values as a zone file writes them, for example `10 mail.example.com` for MX. */
      expected_values: z.array(z.string().min(1).max(1024)).max(50).default([]),
      /** `all`: every expected value is among the answers; `any`: one is; `exact`: and there are no others. */
      match: z.enum(['all', 'any', 'exact']).default('all'),
      /** For example NXDOMAIN for a name that must not exist. */
      expected_rcode: z.enum(['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED']).default('NOERROR'),
      /** Whether the server must say that it verified the answer by DNSSEC (the flag AD); the server has to be one that verifies. */
      require_dnssec: z.boolean().default(false),
    })
    .refine((all) => all.server !== undefined || all.transport === 'udp' || all.transport === 'tcp', {
      message: 'DNS over TLS or HTTPS needs a server: the one of the probe is spoken to without.',
      path: ['server'],
    }),
);
export type DnsSettings = z.infer<ReturnType<typeof dnsSettings>>;

/** What a name server answers for a name. */
export const dns = {
  type: 'dns',
  summary: 'A DNS record: answer, expected values, response code, DNSSEC',
  reference: {
    targets: ['www.example.com', 'dns://www.example.com'],
    settings: { record_type: 'A', expected_values: ['192.0.2.1'] },
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {
      transport: 'How the server was asked in the end.',
      authentic: 'Whether the server verified the answer by DNSSEC (the flag AD).',
    },
  },
  settings: dnsSettings,
  secretFields: [],
  requires: [],
  cheap: true,
  validateTarget: (target, settings) => {
    const question = readQuestion(target, settings);
    return typeof question === 'string' ? question : undefined;
  },
  run,
} satisfies CheckType<'dns', ReturnType<typeof dnsSettings>>;

/** The question that a target stands for; an address asks for its reverse record. */
function readQuestion(target: Target, settings: DnsSettings): Question | string {
  const text = target.url.trim().replace(/^dns:\/\//i, '');
  const host = parseHost(text);
  if (host.kind === 'invalid') return host.reason;
  const type = settings.record_type;
  if (host.kind === 'name') return { name: host.name, type };
  if (type !== 'PTR' || host.address.includes('%'))
    return `"${text}" is an address; only PTR records are asked for by address.`;
  return { name: reverseName(host.address), type };
}

async function run(target: Target, settings: DnsSettings, context: CheckContext): Promise<CheckOutcome> {
  const question = readQuestion(target, settings);
  if (typeof question === 'string') throw new Error(`The target was not validated: ${question}`);
  const start = context.clock();
  const finish = (failure: Failure | undefined, evidence: Evidence, others: Phases = {}): CheckOutcome => {
    const total = Math.round((context.clock() - start) * 1000);
    const phases: Phases = { dns: total, ...others };
    return failure === undefined ? { outcome: 'ok', total, phases, evidence } : { ...failure, total, phases, evidence };
  };

  const chosen = await chooseServer(settings, context);
  if ('failure' in chosen) return finish(chosen.failure, {});
  const { server } = chosen;
  const replied = await askServer(server, question, context, wayOf(settings));
  const whose = settings.server === undefined ? 'resolver' : 'target';
  if (!replied.ok) {
    const { failure, phases } = replied;
    return finish(failure.source === 'probe' ? failure : { ...failure, source: whose }, { ...server }, phases);
  }
  const { flags = 0, flag_ad: authentic, answers: records = [] } = replied.packet;
  const rcode = rcodeName(flags & 0x0f);
  const answers = records
    .map((each) => valueOf(each, question.type))
    .filter((each) => each !== undefined)
    .sort();
  const over = replied.over === 'udp' ? '' : ` over ${replied.over.toUpperCase()}`;
  context.trace?.('dns', `${rcode} with ${answers.length} answers${over}${authentic ? ', verified by DNSSEC' : ''}`);
  const shown = answers.slice(0, 50).map((each) => each.slice(0, 500));
  const failure = judge(question, rcode, answers, settings, whose) ?? judgeOrigin(question, authentic, settings);
  const details = { transport: replied.over, authentic };
  return finish(failure, { ...server, rcode, answers: shown, details }, replied.phases);
}

function wayOf(settings: DnsSettings): Way {
  const parsed = parseHostPort(settings.server ?? '', serverForm);
  const host = settings.server_name ?? (typeof parsed === 'string' ? '' : parsed.host.replace(/^\[|\]$/g, ''));
  return {
    transport: settings.transport,
    host,
    verify: settings.verify_tls,
    caCertificates: settings.ca_certificates,
    path: settings.https_path,
  };
}

/** A name server that the customer names is judged like any target; the probe's own is the operator's choice. */
async function chooseServer(
  settings: DnsSettings,
  context: CheckContext,
): Promise<{ readonly server: Endpoint } | { readonly failure: Failure }> {
  const text = settings.server ?? getServers()[0];
  if (text === undefined) return { failure: probeFault('probe_internal', 'This probe has no name server of its own.') };
  if (settings.server === undefined && isIP(text) !== 0) return { server: { address: text, port: 53 } };
  const parsed = parseHostPort(text, { ...serverForm, defaultPort: usualPort[settings.transport] });
  if (typeof parsed === 'string') return { failure: probeFault('probe_internal', parsed) };
  if (settings.server === undefined)
    return { server: { address: parsed.host.replace(/^\[|\]$/g, ''), port: parsed.port } };
  const located = await locate(parsed.host, parsed.port, context);
  return located.ok ? { server: located.endpoint } : { failure: located.failure };
}

/** Names of RFC 1035 and RFC 2136. */
function rcodeName(rcode: number): string {
  const names = [
    'NOERROR',
    'FORMERR',
    'SERVFAIL',
    'NXDOMAIN',
    'NOTIMP',
    'REFUSED',
    'YXDOMAIN',
    'YXRRSET',
    'NXRRSET',
    'NOTAUTH',
    'NOTZONE',
  ];
  return names[rcode] ?? `RCODE${rcode}`;
}

function judge(
  question: Question,
  rcode: string,
  answers: readonly string[],
  settings: DnsSettings,
  whose: 'resolver' | 'target',
): Failure | undefined {
  const { name, type } = question;
  if (rcode !== settings.expected_rcode) return wrongRcode(name, rcode, settings.expected_rcode, whose);
  const expected = settings.expected_values.map((each) => normaliseValue(each, type));
  if (expected.length === 0) {
    if (rcode !== 'NOERROR' || answers.length > 0) return undefined;
    return failed('dns_no_answer', `The name ${name} exists but has no ${type} record.`);
  }
  const missing = expected.filter((each) => !answers.includes(each));
  const surplus = answers.filter((each) => !expected.includes(each));
  const good =
    settings.match === 'any'
      ? missing.length < expected.length
      : missing.length === 0 && (settings.match === 'all' || surplus.length === 0);
  if (good) return undefined;
  const found = answers.length === 0 ? 'nothing' : answers.slice(0, 5).join(', ').slice(0, 300);
  const wanted = missing.length > 0 ? missing : expected;
  return failed(
    'dns_wrong_answer',
    `The ${type} records of ${name} are ${found}; expected is ${wanted.slice(0, 5).join(', ').slice(0, 300)}.`,
  );
}

/** A server sets the flag AD only for what it verified itself (RFC 4035, 3.2.3), so its word counts as far as the way to it is safe. */
function judgeOrigin(question: Question, authentic: boolean, settings: DnsSettings): Failure | undefined {
  if (!settings.require_dnssec || authentic) return undefined;
  return failed(
    'dns_not_authentic',
    `The name server did not verify the ${question.type} records of ${question.name} by DNSSEC (no AD flag).`,
  );
}

function wrongRcode(name: string, rcode: string, expected: string, whose: 'resolver' | 'target'): Failure {
  if (expected === 'NOERROR') {
    if (rcode === 'NXDOMAIN') return failed('dns_nxdomain', `The name ${name} does not exist.`);
    if (rcode === 'SERVFAIL')
      return failed('dns_servfail', `The name server could not answer for ${name} (SERVFAIL).`, whose);
    if (rcode === 'REFUSED') return failed('dns_refused', `The name server refused the question for ${name}.`, whose);
  }
  return failed('dns_wrong_rcode', `The name server answered ${rcode} for ${name}; expected is ${expected}.`);
}
