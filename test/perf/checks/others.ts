import type { Test } from 'tap';
import { issue } from '../../../packages/checks/src/testing/certificates.ts';
import { rightAnswers } from '../../../packages/checks/src/testing/right-answers.ts';
import type { Teardown } from '../agent/teardown.ts';
import type { Checker } from './checker.ts';

export type OthersPlan = {
  /** Checks of a type before they count, and while they do. */
  readonly warmMs: number;
  readonly ms: number;
  /** Only these; absent: all that have a peer. */
  readonly only?: readonly string[];
};

const width = 16;
/** What is measured more closely elsewhere. */
const elsewhere = new Set(['http', 'https']);

/**
 * µs of a check of each type for which there is a peer in this process, whose cost does not count: for information, as nothing else makes
 * the same checks. A type that does not get its right answers is left out, and said.
 */
export async function measureOthers(
  checker: Checker,
  plan: OthersPlan,
  say: (line: string) => void,
  teardown: Teardown,
): Promise<Readonly<Record<string, number>>> {
  const authority = await issue({ name: 'Bench authority', authority: true });
  const certificate = await issue({ name: 'peer', by: authority, addresses: ['127.0.0.1'] });
  // Nothing of a test but its end is used by the peers.
  const t = { teardown } as Test;
  const figures: Record<string, number> = {};
  for (const [protocol, start] of Object.entries(rightAnswers)) {
    if (elsewhere.has(protocol) || plan.only?.includes(protocol) === false) continue;
    const { url, settings } = await start(t, { authority, certificate });
    const order = { protocol, urls: [url], settings, width };
    try {
      await checker.measure({ ...order, ms: plan.warmMs });
      figures[`${protocol}_us`] = Math.round(await checker.measure({ ...order, ms: plan.ms }));
    } catch (error) {
      say(`${protocol} is left out: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return figures;
}
