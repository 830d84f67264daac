import type { Configured } from '../change.ts';

/** A heartbeat that its first signal makes: daily, with an hour of grace. Nobody is shown its secret, so its signals need none. */
export function madeByPing(slug: string): Configured {
  return {
    name: slug,
    description: '',
    tags: [],
    slug,
    schedule_type: 'period',
    schedule: null,
    timezone: 'UTC',
    expected_interval_seconds: 86_400,
    grace_period_seconds: 3_600,
    max_runtime_seconds: null,
    min_runtime_seconds: null,
    failures_before_alert: 1,
    require_secret: false,
    resume_on_ping: false,
    methods: 'any',
  };
}
