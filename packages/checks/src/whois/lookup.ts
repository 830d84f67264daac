import type { CheckResult } from '../check.ts';
import { addPhase } from '../http/outcome.ts';
import type { Endpoint } from '../net/dial.ts';
import { type Failure, failed, probeFault } from '../net/failure.ts';
import type { Phases } from '../outcome.ts';
import type { DomainFacts, Reading } from './facts.ts';

const phaseNames = ['dns', 'connect', 'tls', 'first_byte', 'transfer'] as const;

/** What a lookup goes through, filled while it runs. Times are whole microseconds, added up over its connections. */
export type Progress = {
  readonly phases: { -readonly [Phase in keyof Phases]: number };
  endpoint?: Endpoint | undefined;
  server?: string;
  /** The last answer as text, for a person. */
  answer?: string;
};

export type LookupSettings = {
  readonly ip_version?: 4 | 6 | undefined;
  readonly ca_certificates?: string | undefined;
  readonly verify_tls: boolean;
};

export type LookedUp =
  | { readonly ok: true; readonly facts: DomainFacts }
  | { readonly ok: false; readonly failure: Failure; readonly final: boolean };

/** Adds what a session with one server saw to that of the whole lookup; gives the failure that it ended with. */
export function keep(progress: Progress, result: CheckResult): Failure | undefined {
  const { outcome, source, code, message = '', phases, evidence } = result;
  for (const name of phaseNames) addPhase(progress, name, phases[name]);
  const { address, port } = evidence ?? {};
  progress.endpoint = address === undefined || port === undefined ? undefined : { address, port };
  if (outcome === 'ok' || outcome === 'slow' || outcome === 'skipped') return undefined;
  return source === undefined || code === undefined ? undefined : { outcome, source, code, message };
}

/** `final`: another protocol would say the same. */
export function lookedUp(reading: Reading, domain: string, server: string): LookedUp {
  switch (reading.kind) {
    case 'found':
      return { ok: true, facts: reading.facts };
    case 'not_found':
      return {
        ok: false,
        final: true,
        failure: failed('whois_not_found', `The domain ${domain} is not registered, says ${server}.`),
      };
    case 'rate_limited':
      // The registry has enough of this probe's questions: that says nothing about the domain, so it is no vote.
      return notKnown(probeFault('whois_rate_limited', `${server} refuses because of too many questions.`));
    case 'unreadable':
      return notKnown(failed('whois_unreadable', `${server} answered something that says nothing about ${domain}.`));
  }
}

export function notKnown(failure: Failure): LookedUp {
  return { ok: false, final: false, failure };
}
