import { readFileSync } from 'node:fs';
import t from 'tap';
import { sql } from '../../../platform/database/pools.ts';
import { addProbe, monitorsApi } from '../../testing.ts';
import { exported, imported } from './testing.ts';

const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url));

/** What becomes of the file of each tool; how its rows are understood is tried beside the formats. */
const files: readonly (readonly [string, { created: number; skipped: number; failed: number }])[] = [
  ['uptime-robot-dashboard.csv', { created: 6, skipped: 1, failed: 0 }],
  ['uptime-robot-api.csv', { created: 4, skipped: 0, failed: 0 }],
  ['better-stack.csv', { created: 7, skipped: 1, failed: 0 }],
  ['statuscake.csv', { created: 4, skipped: 1, failed: 0 }],
  ['pingdom.csv', { created: 4, skipped: 1, failed: 0 }],
  ['uptime-kuma.json', { created: 5, skipped: 2, failed: 0 }],
];

for (const [name, totals] of files) {
  void t.test(`${name} imports whole, and once`, async (t) => {
    const api = await monitorsApi(t);
    const report = await imported(api, fixture(name));
    t.match(report, totals, JSON.stringify(report.rows.filter((row) => row.status !== 'created')));
    t.match(await imported(api, fixture(name)), { created: 0, failed: 0 });
    const own = await exported(api);
    t.notMatch(own, /s3cret|k-123456/);
    t.match(await imported(api, own), { created: 0, skipped: totals.created, failed: 0 });
    const plan = await imported(api, own, { query: '?dry_run=true' });
    t.same(
      plan.rows.flatMap((row) => row['differences']),
      [],
    );
  });
}

void t.test('a URL that is written in another way is the same monitor', async (t) => {
  const api = await monitorsApi(t);
  const file = (...urls: readonly string[]) =>
    ['name,url,protocol', ...urls.map((url, n) => `m${n},${url},http`)].join('\n');
  t.match(await imported(api, file('http://example.org/', 'http://example.org/A')), { created: 2 });
  const again = await imported(api, file('HTTP://Example.org:80', 'http://example.org/a'), { query: '?dry_run=true' });
  t.match(again.rows[0], { status: 'skipped', code: 'duplicate' });
  t.match(again.rows[1], { status: 'skipped', code: 'name_taken' }, 'a path has a case, so that one is another target');
  const elsewhere = await imported(api, 'name,url,protocol\nm9,HTTP://Example.org:80,http\n');
  t.match(elsewhere, { created: 0, skipped: 1, rows: [{ code: 'duplicate' }] });
  const bare = await imported(api, 'name,url,interval_seconds\nm10,HTTP://Example.org:80,60\nm11,nothing://x,60\n');
  t.match(bare.rows, [{ code: 'duplicate' }, { status: 'failed' }], 'a row that cannot be understood harms no other');
});

void t.test('rows are what the documents say, also where a probe has just enrolled', async (t) => {
  const api = await monitorsApi(t);
  const probeId = await addProbe(api.database, 'new', 'eu');
  await api.database.worker.query(sql.unsafe`
    update probes set last_seen_at = null, capabilities = '{}' where id = ${probeId}`);
  const robot = await imported(
    api,
    'Type,Friendly Name,URL/IP,Interval,Status\n3,Router,https://router.example/a,5,2\n5,Backup,,1440,2\nHeartbeat,Job,,60,2\n',
  );
  t.equal(robot.format, 'uptime_robot');
  t.match(robot.rows, [
    { status: 'created', url: 'router.example', warnings: ['only the host of the URL is used: router.example'] },
    { status: 'skipped', code: 'not_translatable', name: 'Backup' },
    { status: 'skipped', code: 'not_translatable', name: 'Job' },
  ]);
  const cake = await imported(
    api,
    'name,website_url,test_type,check_rate,paused\nSteady,https://steady.example,HTTP,0,false\nNightly,,PUSH,86400,false\n',
  );
  t.match(cake.rows, [
    {
      status: 'created',
      warnings: ['the check rate 0 (without a pause) was read as 30 seconds'],
    },
    { status: 'skipped', code: 'not_translatable', name: 'Nightly' },
  ]);
  const stack = await imported(api, 'pronounceable_name,url,monitor_type\nCron,,heartbeat\n');
  t.match(stack.rows, [{ status: 'skipped', code: 'not_translatable' }]);
  const list = await imported(
    api,
    'name,url,type,check_rate\nJob,,heartbeat,60\nAgain,https://again.example/,http,0\n',
  );
  t.match(list.rows, [{ status: 'skipped', code: 'not_translatable' }, { status: 'created' }]);
  const { body } = await api.call('GET', '/api/v1/monitors?sort=name&order=asc', { token: api.token });
  t.match(body['monitors'], [
    { name: 'Again', interval_seconds: 30 },
    { name: 'Router', protocol: 'ping' },
    { name: 'Steady', interval_seconds: 30, is_active: true },
  ]);
});

void t.test('credentials of another tool are sealed and used', async (t) => {
  const api = await monitorsApi(t);
  await imported(api, fixture('uptime-kuma.json'));
  const list = await api.call('GET', '/api/v1/monitors?search=home', { token: api.token });
  t.match(list.body, {
    monitors: [
      {
        name: 'Home',
        is_active: true,
        settings: {
          username: 'watcher',
          has_password: true,
          has_secret_headers: true,
          expected_status: ['200-299', 418],
        },
      },
    ],
  });
  t.notMatch(list.text, /s3cret|k-123456/);
});
