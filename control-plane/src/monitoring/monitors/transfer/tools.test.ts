import { readFileSync } from 'node:fs';
import t from 'tap';
import { monitorsApi } from '../../testing.ts';
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
