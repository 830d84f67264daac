import { findProgram } from '@parallax/settings/programs';
import type { CheckContext } from '../check.ts';
import { localAddressFor } from '../net/dial.ts';
import { averageUs, describeHop } from '../traceroute/output.ts';
import { trace } from '../traceroute/tracer.ts';
import type { Diagnosis } from './diagnosis.ts';
import { within } from './within.ts';

const pathMs = 5000;
const maxHops = 30;
/** Kept back for the start of the program. */
const overheadMs = 300;

/**
 * The path to a judged address, within five seconds, with packets that need no rights. Undefined where the machine has no traceroute or
 * may not use it: that says nothing about the target. Addresses that are nobody's business are told as `private`.
 */
export async function tracePath(
  address: string,
  context: CheckContext,
  program: string | undefined = findProgram('traceroute'),
): Promise<Diagnosis['path']> {
  const budgetMs = Math.min(pathMs, context.timeoutMs) - overheadMs;
  if (program === undefined || budgetMs <= 0) return undefined;
  const order = {
    method: 'udp',
    port: undefined,
    maxHops,
    packetsPerHop: 1,
    budgetMs,
    sourceAddress: localAddressFor({ address, port: 0 }, context),
  } as const;
  const traced = await within(budgetMs + overheadMs, context, ({ signal }) => trace(program, address, order, signal));
  if (traced.hops.length === 0) return undefined;
  const target = traced.hops.find((hop) => hop.addresses.includes(address));
  const hops = target === undefined ? traced.hops : traced.hops.filter((hop) => hop.hop <= target.hop);
  const last = hops.findLast((hop) => hop.addresses.length > 0);
  const shown = (hop: string) => (hop === address || context.addresses.judge(hop, 0) === undefined ? hop : 'private');
  const averageOfTarget = target && averageUs(target);
  return {
    address,
    reached: target !== undefined,
    answered_hops: hops.filter((hop) => hop.addresses.length > 0).length,
    last_answer: last === undefined ? null : describeHop(last, shown),
    ...(averageOfTarget !== undefined && { rtt_us: averageOfTarget }),
    hops: hops.map((hop) => describeHop(hop, shown)),
  };
}
