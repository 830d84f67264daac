import { evaluate, wantedFacts } from '../assertions/evaluate.ts';
import type { AssertionNode, Severity } from '../assertions/settings.ts';
import type { CheckResult, Proxy } from '../check.ts';
import type { CommonSettings } from '../common-settings.ts';
import { type FactName, type Known, knownOf } from '../facts.ts';
import { stubPageOf } from '../http/stub-pages.ts';
import type { CheckOutcome, Outcome } from '../outcome.ts';
import { inverted } from './inverted.ts';
import { readProxy } from '../net/proxy/proxy.ts';
import { proxyOf } from '../net/proxy/tunnel.ts';
import { createSettingsRedactor } from './secrets.ts';
import { withItsWay, type Way } from './way.ts';

/** What the settings that all types share ask of a run. Made once for each settings object. */
export type Plan = Way & {
  readonly wanted: ReadonlySet<FactName>;
  readonly assertions: AssertionNode | undefined;
  readonly inverted: boolean;
  readonly stubPages: boolean;
  /** How grave it is when some of all addresses are bad; undefined when only one is checked. */
  readonly badAddress: Severity | undefined;
  readonly redact: (text: string) => string;
};

const pageFacts: readonly FactName[] = ['status', 'headers', 'body', 'finalUrl'];
const outcomeBySeverity = { fail: 'fail', degraded: 'slow', warn: 'warn' } as const satisfies Record<Severity, Outcome>;

/** The plan of parsed settings; undefined where none of the common ones is used, which is most of the time. */
export function planOf(settings: Readonly<Record<string, unknown>>, secretFields: readonly string[]): Plan | undefined {
  const common: CommonSettings = settings;
  const { assertions, detect_stub_pages: stubPages = false } = common;
  const badAddress = common.all_addresses === true ? (common.bad_address_severity ?? 'degraded') : undefined;
  const { resolver: nameServers, proxy } = common;
  const isPlain = assertions === undefined && !stubPages && common.inverted !== true && badAddress === undefined;
  if (isPlain && nameServers === undefined && proxy === undefined) return undefined;
  const wanted = new Set([...(assertions ? wantedFacts(assertions) : []), ...(stubPages ? pageFacts : [])]);
  const redact = createSettingsRedactor(settings, secretFields);
  const way = { nameServers, proxy: proxyIn(common) };
  return { wanted, assertions, inverted: common.inverted === true, stubPages, badAddress, redact, ...way };
}

/** The proxy of settings, opened; undefined where they name none. */
export function proxyIn(settings: CommonSettings): Proxy | undefined {
  const { proxy, proxy_password: password, proxy_ca_certificates: caCertificates } = settings;
  const read = proxy === undefined ? 'none' : readProxy(proxy);
  return typeof read === 'string'
    ? undefined
    : proxyOf({ ...read, password: password ?? read.password, caCertificates });
}

/** Judges one run by the plan. Assertions and pages are looked at in answers that are good so far; the gravest verdict counts. */
export function judgeRun(result: CheckResult, plan: Plan): CheckOutcome {
  const { facts, ...found } = result;
  const outcome = withItsWay(found, plan, plan.redact);
  if (plan.inverted) return inverted(outcome);
  if (rank(outcome.outcome) === undefined || outcome.outcome === 'fail' || outcome.outcome === 'timeout')
    return outcome;
  const known = knownOf(outcome, facts);
  return (plan.stubPages ? asStubPage(outcome, known, plan) : undefined) ?? asAsserted(outcome, known, plan);
}

function asStubPage(outcome: CheckOutcome, known: Known, plan: Plan): CheckOutcome | undefined {
  const stub = stubPageOf(known);
  if (stub === undefined) return undefined;
  const message = plan.redact(`The page is not the target's own: ${stub.because}.`);
  return { ...outcome, outcome: 'fail', source: 'target', code: stub.code, message };
}

function asAsserted(outcome: CheckOutcome, known: Known, plan: Plan): CheckOutcome {
  const breach = plan.assertions && evaluate(plan.assertions, known, plan.redact);
  if (breach === undefined) return outcome;
  const { source: _source, ...rest } = outcome;
  const verdict = outcomeBySeverity[breach.severity];
  if ((rank(verdict) ?? 0) <= (rank(outcome.outcome) ?? 0)) return outcome;
  const message = plan.redact(breach.message);
  return {
    ...rest,
    outcome: verdict,
    ...(verdict !== 'slow' && { source: 'target' }),
    code: 'assertion_failed',
    message,
  };
}

/** How grave an outcome is; undefined for those that say nothing about the target. */
export function rank(outcome: Outcome): number | undefined {
  const order: readonly Outcome[] = ['ok', 'warn', 'slow', 'fail', 'timeout'];
  const at = order.indexOf(outcome);
  return at === -1 ? undefined : at;
}

/** The outcome that a severity stands for. */
export function outcomeOfSeverity(severity: Severity): 'fail' | 'slow' | 'warn' {
  return outcomeBySeverity[severity];
}
