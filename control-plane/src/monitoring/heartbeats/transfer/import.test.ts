import t from 'tap';
import { heartbeatsApi } from '../testing.ts';
import type { HeartbeatsApi } from '../testing.ts';

const uuids = ['f618072a-7bde-4eee-af63-71a77c5723bc', '803f680d-e89b-492b-82ef-2be7b774a92d'] as const;

/** As `GET /api/v3/checks/` of Healthchecks documents it, and with what a read-only key is shown. */
const checks = [
  {
    name: 'Filesystem Backup',
    slug: 'backup-fs',
    tags: 'backup  fs',
    desc: 'Runs incremental backup every hour',
    grace: 600,
    n_pings: 1,
    status: 'up',
    started: false,
    last_ping: '2024-01-01T00:00:00+00:00',
    next_ping: '2024-01-01T01:00:00+00:00',
    manual_resume: false,
    methods: '',
    subject: '',
    filter_subject: false,
    filter_body: false,
    ping_url: `https://hc-ping.com/${uuids[0]}`,
    timeout: 3_600,
  },
  {
    name: 'Database',
    slug: 'backup-db',
    tags: '',
    desc: '',
    grace: 60,
    status: 'paused',
    manual_resume: true,
    methods: 'POST',
    uuid: uuids[1],
    schedule: '*/5 * * * *',
    tz: 'Europe/Riga',
  },
  {
    name: 'Timer',
    slug: '',
    tags: '',
    grace: 60,
    status: 'new',
    unique_key: 'a6c7b0a8a66bed0df66abfdab3c77736861703ee',
    schedule: 'Mon..Fri 09:00',
    tz: 'UTC',
    filter_body: true,
  },
  { name: 'Never', schedule: '0 0 30 2 *', tz: 'UTC', grace: 60 },
  { name: 'Elsewhere', schedule: '* * * * *', tz: 'Mars/Olympus', grace: 60 },
  { name: 7 },
  { name: 'Same slug', slug: 'backup-fs', grace: 60, timeout: 60 },
  { name: 'Same uuid', slug: 'third', grace: 60, timeout: 60, uuid: uuids[0] },
  'nonsense',
];

type Row = {
  status: string;
  name: string | null;
  code?: string;
  reason?: string;
  warnings: string[];
  heartbeat_id?: number;
};

async function load(api: HeartbeatsApi, file: unknown, query = '') {
  const path = `/api/v1/heartbeats/import?workspace_id=${api.workspaceId}${query}`;
  const answer = await api.call('POST', path, { token: api.token, body: file });
  return { ...answer, rows: (answer.body['rows'] ?? []) as Row[] };
}

void t.test('checks of Healthchecks keep their addresses', async (t) => {
  const api = await heartbeatsApi(t);
  const trial = await load(api, { checks }, '&dry_run=true');
  t.match(trial, {
    status: 200,
    body: { dry_run: true, format: 'healthchecks', total: 9, created: 3, skipped: 2, failed: 4 },
  });
  t.equal((await api.make('GET', '/api/v1/heartbeats')).body['total'], 0, 'a trial leaves nothing');
  const done = await load(api, { checks });
  t.same(
    done.rows.map(({ status }) => status),
    trial.rows.map(({ status }) => status),
    'and says what happens',
  );
  t.match(done.rows, [
    { status: 'created', name: 'Filesystem Backup', warnings: [] },
    { status: 'created' },
    { status: 'created', warnings: [/uuid/, /filters/] },
    { status: 'failed', reason: /never comes/ },
    { status: 'failed', reason: /time zone/ },
    { status: 'failed', code: 'unreadable' },
    { status: 'skipped', code: 'slug_taken' },
    { status: 'skipped', code: 'address_taken' },
    { status: 'failed', code: 'unreadable', name: null },
  ]);
  const read = async (row: number) =>
    (await api.make('GET', `/api/v1/heartbeats/${String(done.rows[row]?.heartbeat_id)}`)).body;
  t.match(await read(0), {
    slug: 'backup-fs',
    tags: ['backup', 'fs'],
    description: 'Runs incremental backup every hour',
    uuid: uuids[0],
    expected_interval_seconds: 3_600,
    grace_period_seconds: 600,
    max_runtime_seconds: 600,
    require_secret: false,
    resume_on_ping: true,
    status: 'new',
  });
  t.match(await read(1), {
    schedule_type: 'cron',
    schedule: '*/5 * * * *',
    timezone: 'Europe/Riga',
    status: 'paused',
    methods: 'post',
    resume_on_ping: false,
  });
  t.match(await read(2), { schedule_type: 'on_calendar', schedule: 'Mon..Fri 09:00', slug: 'timer' });
  t.match(await api.ping(`/ping/${uuids[0]}/start`), { status: 200, text: 'OK' }, 'only the host changes');
  t.match(
    await load(api, { checks }),
    { body: { created: 1, skipped: 4 } },
    'once more only what has no address of its own',
  );
});

void t.test('of Uptime Kuma push monitors are taken', async (t) => {
  const api = await heartbeatsApi(t);
  const monitorList = [
    {
      id: 1,
      type: 'push',
      name: 'Cron',
      interval: 300,
      maxretries: 2,
      active: 1,
      pushToken: 'abcDEF0123',
      tags: [{ name: 'x', value: '' }],
    },
    { id: 2, type: 'http', name: 'Web', url: 'https://example.com' },
    { id: 3, type: 'push', name: 'Off', interval: 60, active: false, pushToken: '' },
  ];
  const done = await load(api, { version: '1.23.0', notificationList: [], monitorList });
  t.match(done, { status: 200, body: { format: 'uptime_kuma', created: 2, skipped: 1 } });
  t.match(done.rows, [{ status: 'created' }, { code: 'no_heartbeat' }, { warnings: [/push token/] }]);
  const list = (await api.make('GET', '/api/v1/heartbeats')).body['heartbeats'];
  t.match(list, [
    { name: 'Cron', failures_before_alert: 3, tags: ['x'] },
    { name: 'Off', status: 'paused' },
  ]);
  t.equal((await api.ping('/api/push/abcDEF0123')).status, 200);
});

void t.test('what is no such file is refused', async (t) => {
  const api = await heartbeatsApi(t);
  t.equal((await load(api, {})).status, 422);
  t.equal((await load(api, [])).status, 422);
  t.equal((await load(api, '{')).status, 422);
  t.match(await load(api, { checks: Array.from({ length: 501 }, () => ({})) }), {
    status: 422,
    body: { errors: [{ code: 'too_many_rows' }] },
  });
  const path = `/api/v1/heartbeats/import?workspace_id=${api.workspaceId}`;
  const csv = await api.call('POST', path, { token: api.token, body: 'a,b', headers: { 'content-type': 'text/csv' } });
  t.equal(csv.status, 415);
  const large = await api.call('POST', path, { token: api.token, body: `{"checks":["${'a'.repeat(1_200_000)}"]}` });
  t.equal(large.status, 413);
});
