import type { MonitorSort, StatusFilter } from '@parallax/api-contract';
import type { MadeMonitor, MadeResult } from './world.ts';

/*
 * The list as the specification says it, over plain values: slow, and with nothing in common with the statement.
 */

export type Known = MadeMonitor & { readonly id: number };

export type Question = {
  readonly status_filter?: StatusFilter;
  readonly is_active?: boolean;
  readonly workspace?: number;
  readonly protocol?: string;
  readonly tags?: readonly string[];
  readonly search?: string;
  readonly sort: MonitorSort;
  readonly order: 'asc' | 'desc';
};

const categories = ['down', 'degraded', 'unknown', 'up', 'paused'] as const;
type Category = (typeof categories)[number];

/** Identifiers of all that match, in their order. */
export function listed(monitors: readonly Known[], question: Question): number[] {
  const matching = monitors.filter((monitor) => !monitor.isDeleted && matches(monitor, question));
  return matching.toSorted((a, b) => compare(a, b, question) || a.id - b.id).map(({ id }) => id);
}

function categoryOf({ isActive, isPausedByGroup, status, protocol }: Known): Category {
  if (!isActive || isPausedByGroup) return 'paused';
  if (status === 'UP') return 'up';
  if (protocol !== 'dnsbl' && ['DOWN', 'TIMEOUT'].includes(status)) return 'down';
  if (protocol !== 'dnsbl' && ['DEGRADED', 'PARTIAL', 'WARNING'].includes(status)) return 'degraded';
  return 'unknown';
}

/** The newest result that was not asked for by hand, since the reset. */
function latest({ results, resetS }: Known): MadeResult | undefined {
  return results.findLast(({ isManual, atS }) => !isManual && (resetS === null || atS <= resetS));
}

function matches(monitor: Known, question: Question): boolean {
  const { status_filter: status, is_active: isActive, workspace, protocol, tags = [], search = '' } = question;
  const wanted = search.normalize('NFC').toLowerCase();
  return (
    (status === undefined || hasStatus(monitor, status)) &&
    (isActive === undefined || monitor.isActive === isActive) &&
    (workspace === undefined || monitor.workspace === workspace) &&
    (protocol === undefined || monitor.protocol === protocol) &&
    tags.every((tag) => monitor.tags.includes(tag)) &&
    [monitor.name, monitor.url].some((text) => text.toLowerCase().includes(wanted))
  );
}

function hasStatus(monitor: Known, filter: StatusFilter): boolean {
  switch (filter) {
    case 'partial':
    case 'timeout':
    case 'warning':
      return categoryOf(monitor) !== 'paused' && monitor.status === filter.toUpperCase();
    case 'skipped':
      return latest(monitor)?.outcome === 'skipped';
    case 'transient': {
      const last = latest(monitor);
      if (last === undefined || !['fail', 'timeout'].includes(last.outcome)) return false;
      const { probeRange: range } = monitor;
      const isConfirmed =
        range !== null &&
        range.status !== 'DEGRADED' &&
        last.atS <= range.fromS &&
        (range.toS === 0 || last.atS > range.toS);
      return !isConfirmed;
    }
    case 'up':
    case 'down':
    case 'degraded':
    case 'unknown':
    case 'paused':
      return categoryOf(monitor) === filter;
  }
}

// What the database sorts names by: the root collation of Unicode, then the bytes.
const collator = new Intl.Collator('und');

function compare(a: Known, b: Known, { sort, order }: Question): number {
  const sign = order === 'asc' ? 1 : -1;
  switch (sort) {
    case 'status':
      return byCategory(a, b, sign);
    case 'name': {
      const [x, y] = [a.name.toLowerCase(), b.name.toLowerCase()];
      return sign * (collator.compare(x, y) || Buffer.compare(Buffer.from(x), Buffer.from(y)));
    }
    case 'uptime':
      return lastWhereMissing(uptimeOf(a), uptimeOf(b), sign);
    case 'response':
      return lastWhereMissing(latencyOf(a), latencyOf(b), sign);
    case 'manual':
      return lastWhereMissing(a.position, b.position, sign) || byCategory(a, b, sign);
  }
}

/** Worst first; paused last in both orders. */
function byCategory(a: Known, b: Known, sign: number): number {
  const [x, y] = [categoryOf(a), categoryOf(b)];
  if (x === 'paused' || y === 'paused') return Number(x === 'paused') - Number(y === 'paused');
  return sign * (categories.indexOf(x) - categories.indexOf(y));
}

function lastWhereMissing(a: number | null, b: number | null, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return sign * (a - b);
}

/** Of an answer; what the control plane measured beside probes is no latency of theirs. */
function latencyOf(monitor: Known): number | null {
  const last = latest(monitor);
  if (last === undefined || last.isFallback || !['ok', 'slow', 'warn'].includes(last.outcome)) return null;
  return last.totalUs;
}

/** In ten-thousandths of a per cent, since the reset; half a one is rounded up. */
function uptimeOf({ ranges, resetS }: Known): number | null {
  const counted = ranges.filter(({ fromS }) => resetS === null || fromS <= resetS);
  const seconds = (all: typeof counted): bigint => all.reduce((sum, { fromS, toS }) => sum + BigInt(fromS - toS), 0n);
  const measured = seconds(counted);
  const good = seconds(counted.filter(({ status }) => status === 'UP' || status === 'DEGRADED'));
  return measured === 0n ? null : Number((2_000_000n * good + measured) / (2n * measured));
}
