/** Answers as they may come, for the OpenAPI document. */

const window = {
  hours: 24,
  period: null,
  timezone: 'UTC',
  requested_from: '2026-03-01T12:00:00.000Z',
  requested_to: '2026-03-02T12:00:00.000Z',
  from: '2026-03-01T12:00:00.000Z',
  to: '2026-03-02T12:00:00.000Z',
  clamped_by: null,
};

const responseTime = {
  count: 4_310,
  mean_ms: 131.204,
  min_ms: 38.41,
  max_ms: 2_812.7,
  p50_ms: 118.02,
  p90_ms: 214.5,
  p95_ms: 287.13,
  p99_ms: 811.9,
};

const checks = {
  total: 4_320,
  ok: 4_298,
  slow: 12,
  warn: 0,
  fail: 8,
  timeout: 2,
  skipped: 0,
  probe_error: 0,
  fallback: 0,
  manual: 1,
};

export const statsExample = {
  monitor_id: 17,
  ...window,
  status: 'UP',
  last_checked_at: '2026-03-02T11:59:51.270Z',
  uptime_percent: 99.58333333333333,
  seconds: { up: 85_980, degraded: 60, down: 360, timeout: 0, unknown: 0, maintenance: 0, paused: 0 },
  downtime_seconds: 360,
  outages: 1,
  checks,
  response_time: responseTime,
  probes: [
    { probe_id: 3, name: 'fra-1', region: 'eu-central', uptime_percent: 99.5, checks, response_time: responseTime },
  ],
};

export const distributionExample = {
  monitor_id: 17,
  probe_id: null,
  ...window,
  ...responseTime,
  histogram: [
    { from_ms: 38.1, to_ms: 120.6, count: 2_250 },
    { from_ms: 120.6, to_ms: 381.4, count: 1_960 },
    { from_ms: 381.4, to_ms: 2_844.5, count: 100 },
  ],
};

const noSeconds = {
  up: 0,
  degraded: 0,
  down: 0,
  timeout: 0,
  unknown: 0,
  maintenance: 0,
  paused: 0,
  excluded: 0,
};

export const correctionExample = {
  id: 5,
  monitor_id: 17,
  started_at: '2026-03-02T03:10:00.000Z',
  ended_at: '2026-03-02T03:14:00.000Z',
  counted_as: 'UP',
  reason:
    'The firewall of the office blocked our probes; the load balancer answered its customers throughout (OPS-1842).',
  created_by: { user_id: 12, name: 'Dana Whitfield' },
  created_at: '2026-03-02T09:00:00.000Z',
  before: { ...noSeconds, down: 240 },
  after: { ...noSeconds, up: 240 },
};

const ledgerHead = {
  chain: 1,
  seq: 31,
  digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
};

export const slaExample = {
  monitor_id: 17,
  name: 'Shop checkout',
  generated_at: '2026-03-02T12:00:02.118Z',
  ...window,
  uptime_percent: 99.86111111111111,
  measured_uptime_percent: 99.58333333333333,
  uptime_seconds: 86_280,
  downtime_seconds: 120,
  measured_seconds: 86_400,
  unknown_seconds: 0,
  maintenance_seconds: 0,
  paused_seconds: 0,
  excluded_seconds: 0,
  corrected_seconds: 240,
  seconds: { ...noSeconds, up: 86_220, degraded: 60, down: 120 },
  incidents: 1,
  mttr_seconds: 120,
  mtbf_seconds: null,
  outages: [
    {
      started_at: '2026-03-02T03:10:00.000Z',
      ended_at: '2026-03-02T03:16:00.000Z',
      duration_seconds: 360,
      downtime_seconds: 120,
      status: 'DOWN',
      cause: 'connect_refused, 2 of 3 probes',
      is_revised: false,
      is_corrected: true,
    },
  ],
  outages_omitted: 0,
  response_time: responseTime,
  probes: [
    {
      probe_id: 3,
      name: 'fra-1',
      region: 'eu-central',
      uptime_percent: 99.5,
      uptime_seconds: 85_968,
      downtime_seconds: 432,
      checks: 1_440,
      answered: 1_433,
      response_time: responseTime,
    },
  ],
  error_budget: {
    slo_target: 99.9,
    is_met: false,
    budget_seconds: 86.4,
    consumed_seconds: 120,
    remaining_seconds: -33.6,
    consumed_percent: 138.88888888888889,
    burn_rate: 1.3888888888888888,
    burn_rate_1h: 0,
    burn_rate_6h: 0,
  },
  corrections: [correctionExample],
  ledger: ledgerHead,
};

export const ledgerEntryExample = {
  seq: 1,
  kind: 'day',
  day: '2026-02-01',
  entry:
    '{"at":"2026-02-03T00:00:41.007Z","chain":1,"day":"2026-02-01","degraded_ms":0,"down_ms":0,"excluded_ms":0,"from":"2026-02-01T00:00:00.000Z",' +
    '"kind":"day","maintenance_ms":0,"monitor_id":17,"outages":0,"paused_ms":0,"seq":1,"timeout_ms":0,"to":"2026-02-02T00:00:00.000Z","unknown_ms":0,"up_ms":86400000}',
  digest: '0bdd66508123fb9f986665c63bc177707401787071218e956ab17a310739c205',
  appended_at: '2026-02-03T00:00:41.010Z',
};

export const verdictExample = {
  valid: true,
  kind: 'pdf',
  monitor: { id: 17, name: 'Shop checkout' },
  period: { from: '2026-02-01T00:00:00.000Z', to: '2026-03-01T00:00:00.000Z' },
  generated_at: '2026-03-01T00:00:04.512Z',
  problems: [{ code: 'newer_corrections', severity: 'outdated', message: 'The ledger has 1 newer correction.' }],
  chain: { known: true, head_matches: true, is_current: true, newer_entries: 3 },
};

const noTimes = {
  count: 0,
  mean_ms: null,
  min_ms: null,
  max_ms: null,
  p50_ms: null,
  p90_ms: null,
  p95_ms: null,
  p99_ms: null,
};

export const latencyExample = {
  monitor_id: 17,
  ...window,
  by: 'monitor',
  bucket: { unit: 'hour', size: 12 },
  series: [
    {
      probe_id: null,
      name: null,
      region: null,
      checks: 2_160,
      failed: 10,
      ...responseTime,
      buckets: [
        {
          start_time: '2026-03-01T12:00:00.000Z',
          end_time: '2026-03-02T00:00:00.000Z',
          checks: 2_160,
          failed: 10,
          ...responseTime,
        },
        {
          start_time: '2026-03-02T00:00:00.000Z',
          end_time: '2026-03-02T12:00:00.000Z',
          checks: 0,
          failed: 0,
          ...noTimes,
        },
      ],
    },
  ],
};
