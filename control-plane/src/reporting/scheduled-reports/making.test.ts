import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { sectionOf } from '../sla/export/test-csv.ts';
import { keep, measuredMonitors, weekly } from './test-week.ts';
import { dayMs, hourMs, minuteMs, reportsApi } from './testing.ts';

void t.test('at its time a report is made once, kept, and mailed to all who agreed', async (t) => {
  const api = await reportsApi(t);
  const { report, dueMs, fromMs, toMs } = await weekly(api);
  await measuredMonitors(api, 5, toMs);
  await api.make(dueMs - minuteMs);
  t.match((await api.reports('GET', `/${report.id}/runs`)).body, { total: 0 }, 'not before its time');
  await Promise.all([api.make(dueMs + minuteMs), api.make(dueMs + minuteMs)]);
  const runs = await api.reports('GET', `/${report.id}/runs`);
  t.match(runs.body, {
    total: 1,
    runs: [
      {
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        trigger: 'schedule',
        status: 'sent',
        error: null,
        recipients: [
          { address: 'owner@example.com', state: 'active' },
          { address: 'reader@example.com', state: 'active' },
        ],
        files: ['pdf', 'csv'],
      },
    ],
  });
  t.equal((await api.reports('GET', `/${report.id}`)).body['next_run_at'], new Date(dueMs + 7 * dayMs).toISOString());
  const taken = (await api.send()).toSorted((one, other) => one.to.join().localeCompare(other.to.join()));
  t.equal(taken.length, 2);
  const [english, russian] = taken;
  t.match(english?.parsed.subject, /^Shop: 99\.9\d\d%, \d+ \w+ \d{4} – \d+ \w+ \d{4}$/);
  t.match(english?.parsed.text, /Weekly report\nShop\n/);
  t.match(english?.parsed.text, 'Target 99.9%: 3 of 5 monitors met it.');
  t.match(english?.parsed.text, '- Search <b>API</b>: 99.880% (before: 99.950%)');
  t.match(english?.parsed.html, 'Search &lt;b&gt;API&lt;/b&gt;');
  t.match(english?.parsed.html, 'Bar chart of uptime over time: 7 bars, 1 with downtime');
  t.match(russian?.parsed.text, /Еженедельный отчёт\nShop\n/);
  t.match(russian?.parsed.text, 'Цель 99,9 %: достигнута у 3 из 5 мониторов.'.replace(' %', '\u00A0%'));
  const headers = Object.fromEntries((english?.parsed.headers ?? []).map(({ key, value }) => [key, value]));
  t.match(headers['list-unsubscribe'], /^<https:\/\/parallax\.example\/api\/v1\/public\/reports\/plru_\w+>$/);
  t.equal(headers['list-unsubscribe-post'], 'List-Unsubscribe=One-Click');
  const charts = (english?.parsed.attachments ?? []).filter(({ mimeType }) => mimeType === 'image/png');
  t.equal(charts.length, 3);
  t.match(charts[0], { contentId: '<latency-1@parallax>', disposition: 'inline', related: true });
  t.match(english?.parsed.html, 'src="cid:latency-1@parallax" alt="Line chart of the response times of Landing page');
  const attached = (english?.parsed.attachments ?? [])
    .filter(({ mimeType }) => mimeType !== 'image/png')
    .map(({ filename, mimeType }) => ({ filename, mimeType }));
  const days = `${new Date(fromMs).toISOString().slice(0, 10)}--${new Date(toMs - 1).toISOString().slice(0, 10)}`;
  t.same(attached, [
    { filename: `Shop ${days}.pdf`, mimeType: 'application/pdf' },
    { filename: `Shop ${days}.csv`, mimeType: 'text/csv' },
  ]);
  const shown = (html = ''): string => html.replaceAll(/cid:latency-(\d)@parallax/g, 'response-times-$1.png');
  for (const { filename, content } of charts) keep(filename ?? '', new Uint8Array(content as ArrayBuffer));
  keep('mail-en.html', shown(english?.parsed.html));
  keep('mail-ru.html', shown(russian?.parsed.html));
  keep('mail-en.txt', english?.parsed.text ?? '');
  keep('mail-ru.txt', russian?.parsed.text ?? '');
  const run = await api.lastRun(report.id);
  const { bytes, headers: answered } = await api.file(`/${report.id}/runs/${String(run['id'])}/pdf`);
  t.equal(answered.get('content-disposition'), `attachment; filename="Shop ${days}.pdf"`);
  const pdf = english?.parsed.attachments.find(({ mimeType }) => mimeType === 'application/pdf');
  t.ok(pdf?.content instanceof ArrayBuffer && Buffer.from(pdf.content).equals(bytes), 'the same file as is kept');
  t.equal(
    await api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from mails`),
    0,
  );
});

void t.test('the figures are those of the monitors themselves, and the files are signed', async (t) => {
  const api = await reportsApi(t);
  const toMs = Math.floor(Date.now() / dayMs) * dayMs;
  const period = { from: new Date(toMs - 7 * dayMs).toISOString(), to: new Date(toMs).toISOString() };
  const ids = await measuredMonitors(api, 4, toMs);
  const report = await api.report({ slo_target: 99.9, formats: ['pdf', 'csv'] });
  await api.reports('POST', `/${report.id}/run`, period);
  await api.make();
  const run = await api.lastRun(report.id);
  t.match(run, { status: 'sent', ...period });
  const { bytes: csv } = await api.file(`/${report.id}/runs/${String(run['id'])}/csv`);
  keep('report.csv', csv);
  const lines = sectionOf(csv.toString(), 'subject');
  t.equal(lines.length, 4);
  const asked = async (id: number, from: number, to: number) => {
    const query = `start_time=${new Date(from).toISOString()}&end_time=${new Date(to).toISOString()}&slo_target=99.9`;
    return (await api.call('GET', `/api/v1/monitors/${id}/sla?${query}`, { token: api.token })).body;
  };
  for (const id of ids) {
    const line = lines.find((one) => one['id'] === String(id)) ?? {};
    const sla = await asked(id, toMs - 7 * dayMs, toMs);
    const before = await asked(id, toMs - 14 * dayMs, toMs - 7 * dayMs);
    t.match(sla, {
      uptime_percent: Number(line['uptime_percent']),
      seconds: { up: Number(line['up_seconds']), down: Number(line['down_seconds']) },
      incidents: Number(line['outages']),
      response_time: { p95_ms: Number(line['response_time_p95_ms']) },
      error_budget: { is_met: line['slo_met'] === 'yes' },
    });
    t.equal(before['uptime_percent'], Number(line['before_uptime_percent']));
    const days = sectionOf(csv.toString(), 'day').filter((one) => one['id'] === String(id));
    t.equal(days.length, 7);
    for (const column of ['up_seconds', 'down_seconds', 'timeout_seconds', 'unknown_seconds']) {
      const sum = days.reduce((total, day) => total + Number(day[column]), 0);
      t.equal(sum, Number(line[column]), `${column} of ${id}: the days sum up to the period`);
    }
  }
  for (const format of ['pdf', 'csv'] as const) {
    const { bytes } = await api.file(`/${report.id}/runs/${String(run['id'])}/${format}`);
    const type = format === 'pdf' ? 'application/pdf' : 'text/csv';
    const verify = async (content: Uint8Array) => {
      const answer = await fetch(`${api.url}/api/v1/sla/verify`, {
        method: 'POST',
        headers: { authorization: `Bearer ${api.token}`, 'content-type': type },
        body: new Uint8Array(content),
      });
      return (await answer.json()) as Record<string, unknown>;
    };
    t.match(await verify(bytes), { valid: true, kind: format, problems: [{ code: 'several_subjects' }] });
    const altered = Buffer.from(bytes);
    altered[altered.length >> 1] = (altered[altered.length >> 1] ?? 0) ^ 1;
    t.match(await verify(altered), { valid: false });
  }
});

void t.test('a missed period is made up for, late; what is too old is skipped', async (t) => {
  const api = await reportsApi(t);
  const { id, next_run_at: nextRun } = await api.report({ frequency: 'daily', send_at: '00:30' });
  const dueMs = Date.parse(nextRun ?? '');
  await api.make(dueMs + 9 * dayMs + 2 * hourMs);
  const { runs } = (await api.reports('GET', `/${id}/runs`)).body as { runs: Record<string, unknown>[] };
  t.same(
    runs.map(({ status }) => status),
    [...Array<string>(7).fill('late'), 'skipped'],
  );
  const skipped = runs.at(-1);
  t.match(skipped, { error: 'too_late', from: new Date(Math.floor(dueMs / dayMs - 1) * dayMs).toISOString() });
  t.equal(runs.at(-2)?.['from'], skipped?.['to'], 'without a gap');
  t.equal((await api.reports('GET', `/${id}`)).body['next_run_at'], new Date(dueMs + 10 * dayMs).toISOString());
});

void t.test(
  'a run by hand is made while the report is paused, one at a time, and sends nothing unless told to',
  async (t) => {
    const api = await reportsApi(t);
    const { id } = await api.report();
    await api.send();
    await api.reports('POST', `/${id}/pause`);
    const from = new Date(Date.now() - 3 * dayMs).toISOString();
    const run = await api.reports('POST', `/${id}/run`, { from, deliver: false });
    t.match(run, { status: 202, body: { from, trigger: 'manual', status: 'queued', files: [] } });
    t.match(await api.reports('POST', `/${id}/run`), { status: 409, body: { code: 'already_running' } });
    await api.make();
    t.match(await api.lastRun(id), { status: 'sent', recipients: [], files: ['pdf'] });
    t.same(await api.send(), []);
    t.equal((await api.reports('POST', `/${id}/run`)).status, 202);
    await api.make();
    t.match(await api.lastRun(id), { status: 'sent', recipients: [{ state: 'active' }] });
    t.equal((await api.send()).length, 1);
    for (let count = 3; count < 10; count += 1) await api.reports('POST', `/${id}/run`);
    t.equal((await api.reports('POST', `/${id}/run`)).status, 429);
    t.equal((await api.reports('GET', `/${id}/runs/${String((await api.lastRun(id))['id'])}/csv`)).status, 404);
  },
);

void t.test('who has not agreed, or has ended this report, gets nothing, and the run says so', async (t) => {
  const api = await reportsApi(t);
  const recipients = [{ address: 'owner@example.com' }, { address: 'reader@example.com' }];
  const { id } = await api.report({ recipients });
  const other = await api.report({ name: 'Other' });
  await api.send();
  await api.reports('POST', `/${id}/run`);
  await api.make();
  t.match(await api.lastRun(id), { status: 'partly_sent', recipients: [{ state: 'active' }, { state: 'asked' }] });
  const [mail] = await api.send();
  const link = /\/api\/v1\/public\/reports\/plru_\w+/.exec(mail?.parsed.text ?? '')?.[0] ?? '';
  const page = await api.call('GET', link);
  t.match(page, { status: 200, text: /End this report/ });
  t.match(
    (await api.reports('GET', `/${id}`)).body,
    { recipients: [{ state: 'active' }, {}] },
    'a look changes nothing',
  );
  t.equal((await api.call('POST', link)).status, 200);
  t.match((await api.reports('GET', `/${id}`)).body, { recipients: [{ state: 'unsubscribed' }, {}] });
  t.match((await api.reports('GET', `/${other.id}`)).body, { recipients: [{ state: 'active' }] }, 'this one alone');
  await api.reports('PUT', `/${id}`, { recipients: [] });
  await api.reports('PUT', `/${id}`, { recipients: [{ address: 'owner@example.com' }] });
  t.match(
    (await api.reports('GET', `/${id}`)).body,
    { recipients: [{ state: 'unsubscribed' }] },
    'also when listed anew',
  );
  await api.reports('POST', `/${id}/run`);
  await api.make();
  t.same(await api.send(), []);
  t.match(await api.call('POST', `${link}?action=subscribe`), { status: 200, text: /sent here again/ });
  t.match((await api.reports('GET', `/${id}`)).body, { recipients: [{ state: 'active' }] });
  t.match(await api.call('GET', '/api/v1/public/reports/plru_nothing'), { status: 404, text: /does not work/ });
  await api.reports('DELETE', `/${id}`);
  t.equal((await api.call('GET', link)).status, 404);
});

void t.test('a maker that is killed leaves nothing half done, and its run is made by another', async (t) => {
  const api = await reportsApi(t);
  const { id } = await api.report();
  await api.send();
  await api.reports('POST', `/${id}/run`);
  const { worker } = api.database;
  await worker.query(sql.unsafe`
    update scheduled_report_runs set status = 'running', attempts = 1, due_at = now() + interval '1 minute'`);
  await api.make();
  t.match(await api.lastRun(id), { status: 'running' }, 'another process has it');
  await worker.query(sql.unsafe`update scheduled_report_runs set due_at = now() - interval '1 second'`);
  await api.make();
  t.match(await api.lastRun(id), { status: 'sent' });
  t.equal((await api.send()).length, 1);
  await api.reports('POST', `/${id}/run`);
  await worker.query(sql.unsafe`
    update scheduled_report_runs set status = 'running', attempts = 3, due_at = now() - interval '1 second' where status = 'queued'`);
  await api.make();
  t.match(await api.lastRun(id), { status: 'failed', error: /came to an end each time/ });
});

void t.test('heartbeats and webhook checks have a line of their own', async (t) => {
  const api = await reportsApi(t);
  const workspace = { workspace_id: api.workspaceId };
  const beat = await api.call('POST', `/api/v1/heartbeats?workspace_id=${api.workspaceId}`, {
    token: api.token,
    body: { name: 'backup' },
  });
  t.equal(beat.status, 201, beat.text);
  const check = await api.call('POST', '/api/v1/webhook-checks', {
    token: api.token,
    body: { ...workspace, name: 'ci' },
  });
  t.equal(check.status, 201, check.text);
  const { report, dueMs, toMs } = await weekly(api);
  const at = (ms: number) => sql.timestamp(new Date(ms));
  const { worker } = api.database;
  await worker.query(sql.unsafe`update heartbeats set created_at = now() - interval '100 days'`);
  await worker.query(sql.unsafe`
    insert into heartbeat_ranges (workspace_id, heartbeat_id, started_at, ended_at, status)
    values (${api.workspaceId}, ${Number(beat.body['id'])}, ${at(toMs - 14 * dayMs)}, ${at(toMs - dayMs)}, 'up'),
      (${api.workspaceId}, ${Number(beat.body['id'])}, ${at(toMs - dayMs)}, null, 'down')`);
  await api.make(dueMs);
  const run = await api.lastRun(report.id);
  t.match(run, { status: 'sent' });
  const { bytes } = await api.file(`/${report.id}/runs/${String(run['id'])}/csv`);
  const lines = sectionOf(bytes.toString(), 'subject');
  t.match(
    lines.find(({ type }) => type === 'heartbeat'),
    { name: 'backup', uptime_percent: '85.7142', down_seconds: '86400', before_uptime_percent: '100', outages: '1' },
  );
  t.match(
    lines.find(({ type }) => type === 'webhook_check'),
    { name: 'ci' },
  );
});
