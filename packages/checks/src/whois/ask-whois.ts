import type { CheckContext } from '../check.ts';
import { type Failure, failed } from '../net/failure.ts';
import { hold } from '../net/hold.ts';
import { parseHostPort } from '../net/host.ts';
import type { Reading } from './facts.ts';
import { keep, type LookedUp, lookedUp, type LookupSettings, notKnown, type Progress } from './lookup.ts';
import { whoisQuery } from './servers.ts';
import { readWhois, referralOf } from './whois-text.ts';

export const whoisForm = { schemes: { whois: 43, rwhois: 4321 }, defaultPort: 43 };
const maxReferrals = 3;
const maxAnswer = 256 * 1024;

/**
 * Asks a WHOIS server (RFC 3912) about a domain, and the one that it refers to while no end of the registration is known. Each is
 * resolved and judged anew; none is asked twice.
 */
export async function askWhois(
  first: { readonly server: string; readonly viaIana: boolean },
  domain: string,
  settings: LookupSettings,
  context: CheckContext,
  progress: Progress,
): Promise<LookedUp> {
  const asked = new Set<string>();
  let server = first.server;
  let best: Reading | undefined;
  let bestServer = server;
  for (;;) {
    asked.add(server);
    progress.server = server;
    const answer = await ask(server, domain, settings, context, progress);
    // What an earlier server said stands, when the one that it refers to cannot be asked.
    if ('failure' in answer) return best === undefined ? notKnown(answer.failure) : lookedUp(best, domain, bestServer);
    const reading = readWhois(answer.text);
    context.trace?.('whois', `${server} answered ${answer.text.length} characters (${reading.kind})`);
    const next = referralOf(answer.text);
    const complete = reading.kind === 'found' && reading.facts.expiresAt !== undefined;
    const fromIana = first.viaIana && asked.size === 1;
    if (!fromIana && (best === undefined || complete || best.kind !== 'found')) {
      best = reading;
      bestServer = server;
    }
    if (complete && !fromIana) return lookedUp(reading, domain, server);
    if (next === undefined || asked.has(next) || asked.size > maxReferrals) {
      if (best === undefined)
        return notKnown(failed('whois_no_server', `No WHOIS server is known for ${domain}; name one in the settings.`));
      return lookedUp(best, domain, bestServer);
    }
    context.trace?.('referral', next);
    server = next;
  }
}

type Answer = { readonly text: string } | { readonly failure: Failure };

async function ask(
  server: string,
  domain: string,
  settings: LookupSettings,
  context: CheckContext,
  progress: Progress,
): Promise<Answer> {
  const parsed = parseHostPort(server, whoisForm);
  if (typeof parsed === 'string')
    return { failure: failed('whois_no_server', `The name of a WHOIS server is wrong: ${parsed}`) };
  const query = whoisQuery(parsed.host, domain);
  const plan = {
    to: { ...parsed, tls: 'none' as const },
    settings: { ip_version: settings.ip_version },
    context,
    peer: 'a WHOIS server',
    codes: { breach: 'whois_unreadable', closed: 'whois_unreadable' } as const,
    secrets: [],
    maxBytes: maxAnswer,
  };
  let text = '';
  const result = await hold(plan, async (session) => {
    await session.open();
    session.sayLine(query.trimEnd());
    text = decode(await session.hearAll('its answer'));
  });
  const failure = keep(progress, result);
  if (failure !== undefined) return { failure };
  progress.answer = text;
  return { text };
}

/** Most servers send UTF-8, some Latin-1. */
function decode(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.includes('\ufffd') ? bytes.toString('latin1') : text;
}
