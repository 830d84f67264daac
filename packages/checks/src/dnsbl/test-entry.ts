import type { CheckContext } from '../check.ts';
import type { Endpoint } from '../net/dial.ts';
import { addressesOf } from './ask.ts';
import type { List, Proof, Subject } from './ask.ts';
import { readAnswers } from './lists.ts';

/** A list that answered is not asked again for an hour, one that did not for five minutes: it may have been a fault of the way. */
const aliveForMs = 3_600_000;
const absentForMs = 300_000;
const mostRemembered = 5_000;

/** By name server, zone and kind of entry. Lists are asked through different resolvers with different answers, and that is what the test is about. */
const remembered = new Map<string, { readonly proof: Proof; readonly untilMs: number }>();

/**
 * Asks lists for the entry that each must have (RFC 5782, 5): without it, that a list has no entry for a subject means nothing, since a dead list and a resolver
 * that is kept from it have none either. One per check: what is asked for several subjects at once is asked once.
 */
export class TestEntries {
  readonly #server: Endpoint;
  readonly #context: CheckContext;
  readonly #asked = new Map<string, Promise<Proof>>();

  constructor(server: Endpoint, context: CheckContext) {
    this.#server = server;
    this.#context = context;
  }

  proofOf(list: List, subject: Subject): Promise<Proof> {
    const { address, port } = this.#server;
    const key = `${address} ${port} ${list.zone} ${subject.alwaysListed.join(' ')}`;
    const asking = this.#asked.get(key) ?? this.#prove(key, list, subject);
    this.#asked.set(key, asking);
    return asking;
  }

  async #prove(key: string, list: List, subject: Subject): Promise<Proof> {
    const nowMs = this.#context.clock();
    const before = remembered.get(key);
    if (before !== undefined && before.untilMs > nowMs) return before.proof;
    const { proof, isCertain } = await this.#ask(list, [...subject.alwaysListed, ...testEntriesOf(list, subject)]);
    const shown = proof.isAlive ? 'answers its test entry' : proof.reason;
    this.#context.trace?.('dnsbl', `${list.label} ${shown}`);
    if (isCertain) {
      remembered.delete(key);
      remembered.set(key, { proof, untilMs: nowMs + (proof.isAlive ? aliveForMs : absentForMs) });
      const [oldest] = remembered.keys();
      if (remembered.size > mostRemembered && oldest !== undefined) remembered.delete(oldest);
    }
    return proof;
  }

  /** One entry after the other, until one is there. What could not be asked is not remembered. */
  async #ask(list: List, entries: readonly string[]): Promise<{ readonly proof: Proof; readonly isCertain: boolean }> {
    for (const entry of entries) {
      const answered = await addressesOf(`${entry}.${list.zone}`, this.#server, this.#context);
      if (!answered.ok) {
        const reason = `does not tell whether it is alive: its test entry ${answered.reason}`;
        return { proof: { isAlive: false, reason, late: answered.late }, isCertain: false };
      }
      const verdict = readAnswers(answered.values, []);
      if (verdict.kind === 'listed') return { proof: { isAlive: true }, isCertain: true };
      if (verdict.kind === 'failed') {
        return { proof: { isAlive: false, reason: verdict.reason, late: false }, isCertain: true };
      }
    }
    const reason = 'does not answer its own test entry (RFC 5782), so that it has no entry says nothing';
    return { proof: { isAlive: false, reason, late: false }, isCertain: true };
  }
}

/** Lists of domains from before the RFC have test entries of their own, and most of them that of addresses. */
const ownTestEntries: Readonly<Record<string, string>> = {
  'dbl.spamhaus.org': 'dbltest.com',
  'multi.surbl.org': 'surbl-org-permanent-test-point.com',
  'multi.uribl.com': 'test.uribl.com',
};

function testEntriesOf(list: List, subject: Subject): readonly string[] {
  if (!subject.isDomain) return [];
  const own = ownTestEntries[list.zone.toLowerCase()];
  return [...(own === undefined ? [] : [own]), '2.0.0.127'];
}
