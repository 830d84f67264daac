import type { Severity } from '../assertions/settings.ts';
import type { Branch } from '../net/fan-out.ts';
import type { CheckOutcome } from '../outcome.ts';
import { outcomeOfSeverity, rank } from './plan.ts';

const shownAddresses = 5;

/**
 * One outcome for the addresses of a name. All good: the gravest of them, and of equals the slowest. All bad: the first. Some bad:
 * `address_partial` with the given gravity, naming the bad addresses, with the times of the slowest good one and the evidence of the
 * first bad one. Addresses that the probe itself cannot reach (no IPv6 here) say nothing, unless there are no others.
 */
export function combine(branches: readonly Branch<CheckOutcome>[], severity: Severity): CheckOutcome {
  const [lead] = branches;
  if (lead === undefined) throw new Error('A check without a run.');
  const telling = branches.filter(({ result }) => rank(result.outcome) !== undefined);
  if (branches.length === 1 || telling.length === 0) return lead.result;
  const bad = telling.filter(({ result }) => isBad(result));
  const [firstBad] = bad;
  const good = telling.filter(({ result }) => !isBad(result));
  const [worst] = [...good].sort((a, b) => rankOf(b) - rankOf(a) || totalOf(b) - totalOf(a));
  if (firstBad === undefined || worst === undefined) {
    const chosen = firstBad ?? worst ?? lead;
    return firstBad !== undefined && telling.length > 1
      ? {
          ...chosen.result,
          message: `None of ${telling.length} addresses is good. ${chosen.result.message ?? ''}`.trim(),
        }
      : { ...chosen.result, total: totalOf(chosen) };
  }
  const outcome = outcomeOfSeverity(severity);
  const list = bad.map(({ address, result }) => `${address ?? 'an address'} (${result.code ?? result.outcome})`);
  const named = list.slice(0, shownAddresses).join(', ');
  const more = list.length > shownAddresses ? ` and ${list.length - shownAddresses} more` : '';
  const addresses = bad.map(({ address }) => address ?? '').join(', ');
  const details = {
    ...firstBad.result.evidence?.details,
    addresses: telling.length,
    bad_addresses: addresses.slice(0, 500),
    bad_code: firstBad.result.code ?? firstBad.result.outcome,
  };
  const slowest = [...good].sort((a, b) => totalOf(b) - totalOf(a))[0] ?? worst;
  return {
    outcome,
    total: totalOf(slowest),
    phases: slowest.result.phases,
    ...(outcome !== 'slow' && { source: 'target' }),
    code: 'address_partial',
    message: `${bad.length} of ${telling.length} addresses of the name ${bad.length === 1 ? 'is' : 'are'} bad: ${named}${more}.`,
    evidence: { ...firstBad.result.evidence, details },
  };
}

function isBad({ outcome }: CheckOutcome): boolean {
  return outcome === 'fail' || outcome === 'timeout';
}

function rankOf({ result }: Branch<CheckOutcome>): number {
  return rank(result.outcome) ?? 0;
}

/** The runs on the other addresses began when the name was resolved. */
function totalOf({ result, dnsUs }: Branch<CheckOutcome>): number {
  return result.total + dnsUs;
}
