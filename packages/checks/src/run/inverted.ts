import type { CheckOutcome, ErrorCode } from '../outcome.ts';

/** Codes of a target that is not there or takes no connection. Every timeout before the first byte is such a silence too. */
const silent: ReadonlySet<ErrorCode> = new Set([
  'connect_refused',
  'connect_timeout',
  'connect_unreachable',
  'connect_reset',
  'connect_failed',
  'dns_nxdomain',
  'dns_no_answer',
  'ping_no_reply',
]);
/** What says nothing about whether anybody would answer: it was never asked. */
const notAsked: ReadonlySet<ErrorCode> = new Set([
  'address_denied',
  'address_family_missing',
  'target_invalid',
  'proxy_error',
  'proxy_auth',
]);

/**
 * The outcome of a check whose target must not answer: silence is good, any answer is bad, whatever it says. Failures of the resolver
 * and of the probe, and targets that may not be asked, stay what they are.
 */
export function inverted(outcome: CheckOutcome): CheckOutcome {
  const { total, phases, evidence, code } = outcome;
  if (outcome.outcome === 'skipped' || outcome.outcome === 'probe_error') return outcome;
  if (outcome.source === 'resolver' || outcome.source === 'probe') return outcome;
  if (code !== undefined && notAsked.has(code)) return outcome;
  if (isSilence(outcome)) {
    const details = { ...evidence?.details, no_answer: code ?? 'response_timeout' };
    return { outcome: 'ok', total, phases, evidence: { ...evidence, details } };
  }
  return {
    outcome: 'fail',
    total,
    phases,
    source: 'target',
    code: 'inverted_answer',
    message: `The target must not answer, and it answered after ${(total / 1000).toFixed(1)} ms (${code ?? 'ok'}).`,
    ...(evidence !== undefined && { evidence }),
  };
}

function isSilence({ outcome, code, phases }: CheckOutcome): boolean {
  if (code !== undefined && silent.has(code)) return true;
  return outcome === 'timeout' && phases.first_byte === undefined && code !== 'response_mismatch';
}
