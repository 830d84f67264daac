import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { countMissing } from '@parallax/testkit/needs';
import t from 'tap';
import type { Test } from 'tap';
import { findBlackbox } from '../perf/agent/blackbox.ts';
import { latenessMs, percentile } from '../perf/agent/lateness.ts';
import { nextSlot, phaseOf } from '../../probe-agent/src/runner/phase.ts';
import { root, runNode, startNode } from '../harness/processes.ts';

const byText = (a: string, b: string): number => a.localeCompare(b);
const main = 'test/perf/main.ts';
/** What the tables of goals ask for under these names. */
const keysOfAgent = ['http_vs_floor', 'http_vs_blackbox', 'lateness_p99_ms', 'core_share', 'publish_us'];
// A prepared database, and files in memory.
const environment = { TAP: '1', TMPDIR: tmpdir() };
const keysOfChecks = ['http_us', 'https_us', 'icmp_us', 'tcp_us', 'idle_bytes'];

// Its second half is the bench of the agent, whole.
void t.test('the benches of checks and of the agent run to their end, and their books agree', async (t) => {
  const output = await runNode([main, 'checks', '--json', '--brief'], environment, 300_000);
  const figures = JSON.parse(output.trim().split('\n').at(-1) ?? '') as Record<string, number>;
  const blackbox = findBlackbox();
  if (blackbox === undefined) countMissing(t, 'prometheus-blackbox-exporter');
  if (figures['https_floor_us'] === undefined) countMissing(t, 'gcc');
  if (figures['icmp_fping_us'] === undefined) countMissing(t, 'fping');
  const isMeasured = (key: string): boolean =>
    !(key === 'http_vs_blackbox' && blackbox === undefined) &&
    !(key === 'http_vs_floor' && figures['floor_us'] === undefined) &&
    !(key === 'https_us' && figures['https_floor_us'] === undefined) &&
    !(key === 'icmp_us' && figures['icmp_fping_us'] === undefined);
  for (const key of [...keysOfChecks, ...keysOfAgent].filter(isMeasured)) t.ok((figures[key] ?? 0) > 0, key);
  t.type(figures['bytes_per_monitor'], 'number');
  t.ok((figures['checks'] ?? 0) > 100, 'checks were made');
});

/** The other benches, in the order in which they are run and told: one process has them all, as to load what they are made of takes seconds. */
const others = ['analytics', 'api', 'consensus', 'dashboard', 'pages', 'pings', 'query', 'webhooks'] as const;
type Figures = Readonly<Record<string, number>>;

void t.test('the other benches run to their end and give what the goals are about', async (t) => {
  const output = await runNode([main, ...others, '--json', '--brief'], environment, 800_000);
  const lines = output.trim().split('\n').slice(-others.length);
  const told = new Map(others.map((name, at) => [name, JSON.parse(lines[at] ?? '{}') as Figures]));
  const gives = (t: Test, name: (typeof others)[number], keys: readonly string[]): Figures => {
    const figures = told.get(name) ?? {};
    for (const key of keys) t.ok((figures[key] ?? 0) > 0, key);
    return figures;
  };

  await t.test('of consensus', async (t) => {
    gives(t, 'consensus', ['consensus_ns', 'consensus_turning_ns', 'consensus_spread_ns', 'consensus_edits']);
  });

  await t.test('of queries', async (t) => {
    const figures = gives(t, 'query', [
      'percentiles_ms',
      'cost_90_vs_30',
      'deep_page_vs_first',
      'timeline_buffers',
      'bytes_per_result',
    ]);
    t.ok((figures['percentiles_error'] ?? 1) <= 0.01, 'the error is what is promised, however short the bench');
  });

  await t.test('of the API', async (t) => {
    gives(t, 'api', ['list_vs_bare', 'p99_vs_median', 'credentials_and_limits_ms', 'bare_rate', 'import_ms']);
  });

  await t.test('of pings, of which what was answered is stored', async (t) => {
    gives(t, 'pings', ['pings_per_second', 'pings_p99_ms', 'commits_per_second', 'pings_per_commit', 'ping_us']);
  });

  await t.test('of webhooks, whose claims read no whole table', async (t) => {
    gives(t, 'webhooks', [
      'deliveries_per_second',
      'event_to_receiver_p99_ms',
      'slow_neighbour_ratio',
      'claim_p99_ms',
      'delivery_us',
    ]);
  });

  await t.test('of status pages: every request is answered, also without the database', async (t) => {
    gives(t, 'pages', [
      'requests_per_second',
      'request_us',
      'floor_us',
      'cached_p99_ms',
      'event_to_page_ms',
      'render_ms',
      'render_cold_ms',
      'page_bytes',
      'subscribers_queued_ms',
      'away_answered',
      'restarted_p99_ms',
    ]);
  });

  await t.test('of analytics and of the dashboard', async (t) => {
    gives(t, 'analytics', ['analytics_30d_ms', 'analytics_90d_ms', 'latency_ms', 'sums_changed_us']);
    gives(t, 'dashboard', ['stats_ms', 'uptime_summary_ms', 'alerts_summary_ms', 'incidents_ms', 'combined_ms']);
  });
});

void t.test('every bench that is documented exists, and every bench is documented', async (t) => {
  const usage = startNode([main], {});
  t.equal(await usage.ended, 2, 'without a name it says which there are');
  const names = [...usage.errors().matchAll(/^([a-z]+) {2,}\S/gm)].map((match) => match[1] ?? '').toSorted(byText);
  const text = readFileSync(path.join(root, 'docs/benchmarks.md'), 'utf8');
  const documented = [...text.matchAll(/npm run bench -- ([a-z]+)/g)].map((match) => match[1] ?? '');
  t.same([...new Set(documented)].toSorted(byText), names);
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  t.match(scripts['bench'], main);
});

void t.test('lateness is the time since the slot of a monitor, and percentiles are values that occurred', async (t) => {
  const dueMs = nextSlot(1_750_000_000_000, 5_000, phaseOf(17, 3));
  const lateness = (lateMs: number) =>
    Math.round(latenessMs({ monitorId: 17, effectiveUs: (dueMs + lateMs) * 1_000 }, 3, 5_000) * 1_000) / 1_000;
  t.equal(lateness(0), 0);
  t.equal(lateness(1.25), 1.25);
  t.equal(lateness(2_000), 2_000);
  t.equal(lateness(-0.5), -0.5, 'the clock was set back meanwhile');
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  t.same(
    [0.5, 0.99, 0.999].map((share) => percentile(values, share)),
    [50, 99, 100],
  );
});
