import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { addProbe, monitorsApi } from '../../testing.ts';
import { exported, imported } from './testing.ts';

const file = (names: readonly number[]) =>
  `url,name\n${names.map((name) => `https://h${name}.example/,n${name}`).join('\n')}\n`;

void t.test('the same file several times at once creates each monitor once', async (t) => {
  const api = await monitorsApi(t);
  await addProbe(api.database, 'a', 'eu');
  const up = Array.from({ length: 100 }, (_, index) => index);
  const reports = await Promise.all(
    [up, up.toReversed(), up, up.toReversed()].map((names) => imported(api, file(names))),
  );
  const created = reports.reduce((sum, report) => sum + report.created, 0);
  t.equal(created, 100);
  t.same(
    reports.map((report) => report.failed),
    [0, 0, 0, 0],
  );
  const codes = new Set(reports.flatMap((report) => report.rows.flatMap((row) => row.code ?? [])));
  for (const code of codes) t.ok(['name_taken', 'duplicate'].includes(code), code);
  t.equal((await exported(api)).split('\r\n').length, 102);
  const seats = await api.database.worker.oneFirst(sql.type(z.object({ seats: z.number() }))`
    select count(*)::integer as seats from assignments where ended_at is null`);
  t.equal(seats, 100);
});

void t.test('a monitor that is created beside an import keeps its name', async (t) => {
  const api = await monitorsApi(t);
  const [report, made] = await Promise.all([
    imported(api, file([1, 2, 3])),
    api.call('POST', '/api/v1/monitors', {
      token: api.token,
      body: { workspace_id: api.workspaceId, name: 'n2', url: 'https://other.example/' },
    }),
  ]);
  t.equal(report.created + (made.status === 201 ? 1 : 0), 3);
  t.equal(report.failed, 0);
});

void t.test('seats are spread over the probes that there are', async (t) => {
  const api = await monitorsApi(t);
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await addProbe(api.database, name, 'eu');
  await imported(api, file(Array.from({ length: 60 }, (_, index) => index)));
  const loads = await api.database.worker.anyFirst(sql.type(z.object({ load: z.number() }))`
    select count(*)::integer as load from assignments where ended_at is null group by probe_id`);
  t.same(loads, [30, 30, 30, 30, 30, 30]);
});
