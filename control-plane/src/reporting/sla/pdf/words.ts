/** Everything that a report says in a language. A new language is one file and a line in `languages.ts`. */
export type Words = {
  /** BCP 47. */
  readonly language: string;
  readonly title: string;
  readonly subject: (monitor: string, period: string) => string;
  readonly page: (page: number, pages: number) => string;
  readonly head: {
    readonly workspace: string;
    readonly period: string;
    readonly interval: string;
    readonly generated: string;
    readonly utc: string;
    readonly every: (duration: string) => string;
    readonly clampedByCreation: (asked: string) => string;
    readonly clampedByReset: (asked: string) => string;
  };
  readonly units: {
    readonly days: string;
    readonly hours: string;
    readonly minutes: string;
    readonly seconds: string;
    readonly milliseconds: string;
  };
  readonly summary: {
    readonly heading: string;
    readonly uptime: string;
    readonly notMeasured: string;
    readonly ofMeasured: (duration: string) => string;
    readonly targetMet: (target: string) => string;
    readonly targetMissed: (target: string) => string;
    readonly targetUnknown: (target: string) => string;
    readonly budget: string;
    readonly used: (consumed: string, budget: string, share: string | null) => string;
    readonly left: (duration: string) => string;
    readonly over: (duration: string) => string;
    readonly burnRate: string;
    readonly burnRateIn: (hours: number) => string;
    readonly corrected: (duration: string, measured: string) => string;
  };
  readonly figures: {
    readonly heading: string;
    readonly time: string;
    readonly window: string;
    readonly up: string;
    readonly degraded: string;
    readonly down: string;
    readonly timeout: string;
    readonly unknown: string;
    readonly maintenance: string;
    readonly paused: string;
    readonly excluded: string;
    readonly outages: string;
    readonly count: string;
    readonly downtime: string;
    readonly longest: string;
    readonly mttr: string;
    readonly mtbf: string;
    readonly corrected: string;
    readonly burnRate: string;
    readonly response: string;
    readonly answers: string;
    readonly mean: string;
    readonly median: string;
    readonly percentile: (percent: number) => string;
    readonly fastest: string;
    readonly slowest: string;
  };
  readonly days: {
    readonly heading: string;
    readonly none: string;
    readonly full: (uptime: string) => string;
    readonly atLeast: (uptime: string) => string;
    readonly below: (uptime: string) => string;
    readonly notMeasured: string;
    readonly lowest: (day: string, uptime: string) => string;
    readonly allFull: string;
    readonly alt: (days: number, withDowntime: number, lowest: string) => string;
  };
  readonly chart: {
    readonly heading: string;
    readonly none: string;
    readonly median: string;
    readonly p95: string;
    readonly above: (highest: string) => string;
    readonly alt: (median: string, p95: string) => string;
  };
  readonly outages: {
    readonly heading: string;
    readonly none: string;
    readonly columns: {
      readonly number: string;
      readonly began: string;
      readonly ended: string;
      readonly downtime: string;
      readonly status: string;
      readonly cause: string;
      readonly remarks: string;
    };
    readonly ongoing: string;
    readonly down: string;
    readonly timeout: string;
    readonly measured: (duration: string) => string;
    readonly revised: string;
    readonly cut: string;
    readonly omitted: (listed: string, omitted: string, downtime: string) => string;
  };
  readonly probes: {
    readonly heading: string;
    readonly none: string;
    readonly columns: {
      readonly probe: string;
      readonly region: string;
      readonly checks: string;
      readonly answered: string;
      readonly uptime: string;
      readonly downtime: string;
      readonly median: string;
      readonly p95: string;
    };
    readonly controlPlane: string;
    readonly note: string;
    readonly omitted: (omitted: string) => string;
  };
  readonly corrections: {
    readonly heading: string;
    readonly none: string;
    readonly columns: {
      readonly time: string;
      readonly countedAs: string;
      readonly effect: string;
      readonly reason: string;
      readonly by: string;
    };
    readonly countedAs: { readonly UP: string; readonly EXCLUDED: string; readonly MEASURED: string };
    readonly effect: (before: string, after: string) => string;
    readonly omitted: (omitted: string) => string;
  };
  readonly method: {
    readonly heading: string;
    readonly lines: readonly string[];
  };
  readonly proof: {
    readonly heading: string;
    readonly ledger: (chain: string, entry: string) => string;
    readonly digest: string;
    readonly noEntry: (chain: string) => string;
    readonly file: string;
    readonly verify: (path: string) => string;
  };
};
