import type { Proxy } from '../check.ts';
import type { CheckOutcome } from '../outcome.ts';

/** How a check gets to its target, as far as the settings say. */
export type Way = {
  /** Name servers in the place of the probe's. */
  readonly nameServers: readonly string[] | undefined;
  readonly proxy: Proxy | undefined;
};

/**
 * An outcome whose evidence says by whose name servers and through which proxy it came about, unless all is well. A proxy sees what is not
 * encrypted and could send its password back in the target's place, so that is taken out once more.
 */
export function withItsWay(
  outcome: CheckOutcome,
  { nameServers, proxy }: Way,
  redact: (text: string) => string,
): CheckOutcome {
  if (nameServers === undefined && proxy === undefined) return outcome;
  const whole = proxy === undefined ? outcome : withoutSecrets(outcome, redact);
  if (outcome.outcome === 'ok' || outcome.outcome === 'slow') return whole;
  const way = {
    ...(nameServers !== undefined && { resolver: nameServers.join(', ') }),
    ...(proxy !== undefined && { proxy: proxy.name }),
  };
  return { ...whole, evidence: { ...whole.evidence, details: { ...whole.evidence?.details, ...way } } };
}

function withoutSecrets<Value>(value: Value, redact: (text: string) => string): Value {
  if (typeof value === 'string') return redact(value) as Value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each: unknown) => withoutSecrets(each, redact)) as Value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutSecrets(each, redact)])) as Value;
}
