import { slaVerdictSchema } from '@parallax/api-contract';
import type { SlaVerdict } from '@parallax/api-contract';
import t from 'tap';
import { addMember, addRange, addResults } from '../../../monitoring/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { dayMs, hourMs, iso, minuteMs, reportingApi } from '../../testing.ts';
import type { ReportingApi } from '../../testing.ts';
import { sectionOf } from '../export/test-csv.ts';
import { closeDays } from '../ledger/closing/job.ts';
import { findSeal } from '../seal.ts';

/** A monitor of ten days with a closed ledger, an outage and some results. */
async function reported(api: ReportingApi, name = '=Магазин, "1"'): Promise<number> {
  const id = await api.oldMonitor(10 * dayMs, { name, url: 'https://shop.example/x?token=secret' });
  const outageMs = api.nowMs - 5 * hourMs;
  await addRange(api.database, { monitorId: id, fromMs: api.nowMs - 10 * dayMs, toMs: outageMs, status: 'UP' });
  await addRange(api.database, { monitorId: id, fromMs: outageMs, toMs: outageMs + 10 * minuteMs, status: 'DOWN' });
  await addRange(api.database, { monitorId: id, fromMs: outageMs + 10 * minuteMs, toMs: null, status: 'UP' });
  await addResults(
    api.database,
    Array.from({ length: 50 }, (_, index) => ({
      monitorId: id,
      probeId: 0,
      central: true,
      atMs: api.nowMs - (index + 1) * minuteMs,
    })),
  );
  await api.database.worker.query(sql.unsafe`
    insert into shards (shard, folded_until) values (0, ${sql.timestamp(new Date(api.nowMs))})
    on conflict (shard) do update set folded_until = excluded.folded_until`);
  await closeDays(api.context, () => true);
  return id;
}

async function verify(api: ReportingApi, bytes: Buffer, token = api.token, type?: string): Promise<SlaVerdict> {
  const contentType = type ?? (bytes.subarray(0, 4).toString() === '%PDF' ? 'application/pdf' : 'text/csv');
  const answer = await fetch(`${api.url}/api/v1/sla/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
    body: new Uint8Array(bytes),
  });
  const body: unknown = await answer.json();
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(body)}`);
  return slaVerdictSchema.parse(body);
}

const codes = (verdict: SlaVerdict) => verdict.problems.map(({ code }) => code);

const correction = (api: ReportingApi, id: number) =>
  api.call('POST', `/api/v1/monitors/${id}/sla/corrections`, {
    token: api.token,
    body: {
      started_at: iso(api.nowMs - 5 * hourMs),
      ended_at: iso(api.nowMs - 4 * hourMs),
      counted_as: 'UP',
      reason: '=1+1',
    },
  });

void t.test('the files have proper names, the figures of the report, and are genuine', async (t) => {
  const api = await reportingApi(t);
  const id = await reported(api);
  t.equal((await correction(api, id)).status, 201);
  const base = `/api/v1/monitors/${id}/sla`;
  const csv = await api.file(`${base}/export/csv?hours=240&slo_target=99.9`);
  t.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
  const name = csv.headers.get('content-disposition') ?? '';
  t.match(name, /^attachment; filename="sla =[^"]*\.csv"; filename\*=UTF-8''sla%20%3D%D0%9C%D0%B0%D0%B3/);
  const text = csv.bytes.toString();
  const summary = Object.fromEntries(sectionOf(text, 'summary').map((record) => [record['name'], record['value']]));
  const report = await api.get(`${base}?hours=240&slo_target=99.9`);
  t.match(summary, {
    monitor: `'=Магазин, "1"`,
    uptime_percent: String(report['uptime_percent']),
    downtime_seconds: '0',
    corrected_seconds: '600',
    response_time_count: '50',
    slo_met: 'yes',
  });
  t.notMatch(text, /secret/);
  t.match(sectionOf(text, 'correction'), [{ reason: "'=1+1" }]);
  t.equal(sectionOf(text, 'day').length, 11);
  const verdict = await verify(api, csv.bytes);
  t.match(verdict, {
    valid: true,
    kind: 'csv',
    monitor: { id, name: '=Магазин, "1"' },
    period: { from: iso(api.nowMs - 10 * dayMs), to: iso(api.nowMs) },
    generated_at: iso(api.nowMs),
    problems: [],
    chain: { known: true, head_matches: true, is_current: true, newer_entries: 0 },
  });
  const pdf = await api.file(`${base}/export/pdf`);
  t.equal(pdf.headers.get('content-type'), 'application/pdf');
  t.match(pdf.headers.get('content-disposition'), /\.pdf"/);
  t.match(await verify(api, pdf.bytes), { valid: true, kind: 'pdf', monitor: { id }, problems: [] });
  t.match(findSeal(pdf.bytes)?.fields, { seq: (report['ledger'] as { seq: number }).seq });
});

void t.test('a form with the file does as well', async (t) => {
  const api = await reportingApi(t);
  const id = await reported(api);
  const { bytes } = await api.file(`/api/v1/monitors/${id}/sla/export/csv`);
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(bytes)]), 'report.csv');
  const answer = await fetch(`${api.url}/api/v1/sla/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.token}` },
    body: form,
  });
  t.match(await answer.json(), { valid: true, monitor: { id } });
});

void t.test('what was changed, added or is no report is said plainly', async (t) => {
  const api = await reportingApi(t);
  const id = await reported(api);
  const { bytes } = await api.file(`/api/v1/monitors/${id}/sla/export/csv`);
  const text = bytes.toString();
  const altered = await verify(
    api,
    Buffer.from(text.replace('"DOWN"', '"UP"').replace('down_seconds,600', 'down_seconds,0')),
  );
  t.match(altered, {
    valid: false,
    kind: 'csv',
    monitor: { id },
    problems: [{ code: 'altered', severity: 'invalid' }],
  });
  t.same(codes(await verify(api, Buffer.concat([bytes, Buffer.from('more\r\n')]))), ['altered']);
  t.same(codes(await verify(api, bytes.subarray(0, bytes.length - 60))), ['no_report']);
  for (const [field, other] of [
    ['monitor=', 'monitor=1'],
    ['chain=', 'chain=1'],
    ['seq=', 'seq=1'],
  ] as const) {
    const forged = await verify(api, Buffer.from(text.replace(field, other)));
    t.match(forged, { valid: false, monitor: null, period: null, chain: null, problems: [{ code: 'seal_altered' }] });
  }
  t.same(codes(await verify(api, Buffer.from(text.replace(/key=[0-9a-f]/, 'key=x')))), ['no_report']);
  const key = findSeal(bytes)?.fields.key ?? '';
  t.match(await verify(api, Buffer.from(text.replace(key, '0'.repeat(16)))), {
    valid: false,
    monitor: null,
    problems: [{ code: 'foreign_installation' }],
  });
  for (const hostile of [
    Buffer.from('x'),
    Buffer.from('%PDF-'),
    Buffer.alloc(10_000_000, 0x25),
    Buffer.from([0xff, 0xfe, 0]),
  ]) {
    t.match(await verify(api, hostile), { valid: false, kind: null, problems: [{ code: 'no_report' }] });
  }
});

void t.test('what another installation signed is not ours', async (t) => {
  const [one, other] = [await reportingApi(t), await reportingApi(t)];
  const { bytes } = await one.file(`/api/v1/monitors/${await reported(one)}/sla/export/csv`);
  await reported(other);
  t.match(await verify(other, bytes), {
    valid: false,
    monitor: null,
    chain: null,
    problems: [{ code: 'foreign_installation' }],
  });
});

void t.test('newer corrections and a reset make a genuine report an old one', async (t) => {
  const api = await reportingApi(t);
  const id = await reported(api);
  const { bytes } = await api.file(`/api/v1/monitors/${id}/sla/export/csv`);
  t.equal((await correction(api, id)).status, 201);
  t.match(await verify(api, bytes), {
    valid: true,
    problems: [{ code: 'newer_corrections', severity: 'outdated' }],
    chain: { known: true, head_matches: true, is_current: true, newer_entries: 1 },
  });
  const reset = await api.call('POST', `/api/v1/monitors/${id}/reset-stats`, {
    token: api.token,
    body: { confirm: true },
  });
  t.equal(reset.status, 200);
  const after = await verify(api, bytes);
  t.match(after, { valid: true, chain: { known: true, head_matches: true, is_current: false } });
  t.same(codes(after), ['chain_reset', 'newer_corrections']);
});

void t.test('a ledger that was changed does not bear out the report', async (t) => {
  const api = await reportingApi(t);
  const id = await reported(api);
  const { bytes } = await api.file(`/api/v1/monitors/${id}/sla/export/csv`);
  const replaced = (from: string, to: string) =>
    api.database.worker.query(sql.unsafe`update sla_ledger set entry = replace(entry, ${from}, ${to}) where seq = 2`);
  await replaced('"outages":0', '"outages":1');
  t.match(await verify(api, bytes), { valid: false, problems: [{ code: 'ledger_damaged', message: /Entry 2/ }] });
  await replaced('"outages":1', '"outages":0');
  t.match(await verify(api, bytes), { valid: true });
  await api.database.worker.query(sql.unsafe`
    update sla_ledger set digest = sha256('x') where seq = (select max(seq) from sla_ledger)`);
  t.same(codes(await verify(api, bytes)), ['ledger_differs', 'ledger_damaged']);
  await api.database.worker.query(sql.unsafe`delete from sla_ledger where seq = (select max(seq) from sla_ledger)`);
  const cut = await verify(api, bytes);
  t.match(cut, { valid: false, chain: { known: false, head_matches: false } });
  t.same(codes(cut), ['ledger_unknown']);
});

void t.test('a report of a monitor without a ledger, and of one that is gone or foreign', async (t) => {
  const api = await reportingApi(t);
  const id = await api.oldMonitor(hourMs);
  const { bytes } = await api.file(`/api/v1/monitors/${id}/sla/export/csv`);
  t.match(await verify(api, bytes), { valid: true, problems: [], chain: { known: true, head_matches: true } });
  const stranger = await api.account('stranger@example.com');
  const foreign = await verify(api, bytes, stranger.accessToken);
  t.match(foreign, {
    valid: true,
    monitor: null,
    chain: null,
    problems: [{ code: 'monitor_unknown', severity: 'unchecked' }],
  });
  t.notMatch(JSON.stringify(foreign), /example\.com/, 'nothing of it is named');
  await addMember(api.database, api.workspaceId, stranger.id, 'viewer');
  t.match(await verify(api, bytes, stranger.accessToken), { monitor: { id } });
  t.equal((await api.call('DELETE', `/api/v1/monitors/${id}`, { token: api.token })).status, 204);
  t.match(await verify(api, bytes), { valid: true, monitor: null, problems: [{ code: 'monitor_unknown' }] });
});

void t.test('who may verify, and what is taken', async (t) => {
  const api = await reportingApi(t);
  const path = '/api/v1/sla/verify';
  const csv = { 'content-type': 'text/csv' };
  t.equal((await api.call('POST', path, { body: 'a', headers: csv })).status, 401);
  const made = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'key' } });
  t.equal((await api.call('POST', path, { body: 'a', headers: csv, key: String(made.body['key']) })).status, 403);
  t.equal((await api.call('POST', path, { body: {}, token: api.token })).status, 415);
  t.equal((await api.call('POST', path, { token: api.token })).status, 422);
  const large = await api.call('POST', path, {
    body: 'x'.repeat(10 * 1_024 * 1_024 + 1),
    headers: csv,
    token: api.token,
  });
  t.equal(large.status, 413);
});
