import t from 'tap';
import { addRanges, addResults, addProbe, setStatus } from '../../../monitoring/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { refreshDays } from '../../day-sums/refresh.job.ts';
import { badgeKey } from '../key.ts';
import { badgesApi } from '../testing.ts';
import type { BadgesApi } from '../testing.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const at = (ms: number) => sql.timestamp(new Date(ms));

/** A monitor that was made so long ago. */
async function oldMonitor(api: BadgesApi, ageMs: number): Promise<number> {
  const { id } = await api.monitor();
  await api.database.worker.query(
    sql.unsafe`update monitors set created_at = ${at(api.clock.ms - ageMs)} where id = ${id}`,
  );
  return id;
}

/** Says that results are evaluated up to now. */
async function evaluate(api: BadgesApi): Promise<void> {
  await api.database.worker.query(sql.unsafe`
    insert into shards (shard, folded_until) values (0, ${at(api.clock.ms)}) on conflict (shard) do update set folded_until = excluded.folded_until`);
}

const statsOf = async (api: BadgesApi, path: string) =>
  (await api.call('GET', `/api/v1/${path}`, { token: api.token })).body;

void t.test('a badge says what the statistics of its monitor say, cut and never rounded up', async (t) => {
  const api = await badgesApi(t);
  const { clock, database } = api;
  const id = await oldMonitor(api, 90 * dayMs);
  const downMs = clock.ms - 10 * dayMs;
  await addRanges(database, [
    { monitorId: id, fromMs: clock.ms - 80 * dayMs, toMs: downMs, status: 'UP' },
    { monitorId: id, fromMs: downMs, toMs: downMs + 20_000, status: 'DOWN' },
    { monitorId: id, fromMs: downMs + 20_000, toMs: clock.ms - hourMs, status: 'UP' },
    { monitorId: id, fromMs: clock.ms - hourMs, toMs: null, status: 'DEGRADED' },
  ]);
  await evaluate(api);
  await setStatus(database, id, 'DEGRADED');
  const probeId = await addProbe(database, 'one', 'here');
  const times = [12, 20, 30, 44, 50];
  await addResults(
    database,
    times.map((ms, index) => ({ monitorId: id, probeId, atMs: clock.ms - (index + 1) * 60_000, totalUs: ms * 1_000 })),
  );
  const { key } = await api.badge({ type: 'monitor', id });

  const stats = await statsOf(api, `monitors/${id}/stats?hours=720`);
  t.equal(stats['uptime_percent'], 99.9992);
  t.match(await api.said(key, 'uptime.json'), {
    schemaVersion: 1,
    label: 'uptime 30d',
    message: '99.99%',
    color: '#15803d',
    isError: false,
    cacheSeconds: 60,
  });
  t.equal((await statsOf(api, `monitors/${id}/stats?hours=240`))['uptime_percent'], 99.9976);
  t.match(await api.said(key, 'uptime.json?hours=241'), { label: 'uptime 241h', message: '99.99%' });
  t.match(await api.said(key, 'uptime.json?hours=24'), { label: 'uptime 24h', message: '100%' });
  t.match(await api.said(key, 'status.json'), { label: 'status', message: 'degraded', color: '#946200' });
  const hour = await statsOf(api, `monitors/${id}/stats?hours=1`);
  t.match(hour['response_time'], { count: 5 });
  const { p50_ms: median } = hour['response_time'] as { p50_ms: number };
  t.match(await api.said(key, 'latency.json?hours=1'), {
    label: 'response time 1h',
    message: `${Math.round(median)} ms`,
    color: '#1d5fc4',
  });
  t.match(await api.said(key, 'certificate.json'), { label: 'certificate', message: 'no data', color: '#667080' });
  await database.worker.query(sql.unsafe`
    insert into monitor_expiries (monitor_id, kind, probe_id, probe_revision, not_after, seen_at)
    select id, 'certificate', ${probeId}, probe_revision, ${at(clock.ms + 42.5 * dayMs)}, ${at(clock.ms)} from monitors where id = ${id}`);
  t.match(await api.said(key, 'certificate.json'), { message: 'no data' }, 'for a minute as it was');
  clock.ms += 60_000;
  t.match(await api.said(key, 'certificate.json?hours=x'), { message: 'expires in 42 days', color: '#15803d' });

  const young = await api.badge({ type: 'monitor', id: (await api.monitor()).id });
  t.match(await api.said(young.key, 'status.json'), { message: 'no data', color: '#667080', isError: false });
  t.match(await api.said(young.key, 'uptime.json'), { message: 'no data' }, 'nothing was measured: neither 100 nor 0');
  t.match(await api.said(young.key, 'latency.json'), { message: 'no data' });
});

void t.test('heartbeats and webhook checks have badges of their status and uptime', async (t) => {
  const api = await badgesApi(t);
  const { worker } = api.database;
  const { clock } = api;
  const heartbeatId = await api.heartbeat();
  const checkId = await api.check();
  const heartbeat = await api.badge({ type: 'heartbeat', id: heartbeatId });
  const check = await api.badge({ type: 'webhook_check', id: checkId });
  t.match(await api.said(heartbeat.key, 'status.json'), { message: 'no data' });
  t.match(await api.said(check.key, 'uptime.json'), { message: 'no data' });
  for (const [table, column, id, status] of [
    ['heartbeat', 'heartbeat_id', heartbeatId, 'up'],
    ['webhook_check', 'check_id', checkId, 'down'],
  ] as const) {
    await worker.query(sql.unsafe`
      update ${sql.identifier([`${table}s`])} set created_at = ${at(clock.ms - 10 * dayMs)}, status = ${status},
        status_since = ${at(clock.ms - dayMs)} ${table === 'webhook_check' ? sql.fragment`, reason = 'failed'` : sql.fragment``}
      where id = ${id}`);
    await worker.query(sql.unsafe`
      insert into ${sql.identifier([`${table}_ranges`])} (${sql.identifier([column])}, workspace_id, started_at, ended_at, status) values
        (${id}, ${api.workspaceId}, ${at(clock.ms - 10 * dayMs)}, ${at(clock.ms - 3 * dayMs)}, 'up'),
        (${id}, ${api.workspaceId}, ${at(clock.ms - 3 * dayMs)}, ${at(clock.ms - dayMs)}, 'down'),
        (${id}, ${api.workspaceId}, ${at(clock.ms - dayMs)}, null, ${status})`);
  }
  clock.ms += 60_000;
  const cut = (figure: unknown) =>
    `${Number(figure)
      .toFixed(4)
      .slice(0, -2)
      .replace(/\.?0+$/, '')}%`;
  t.match(await api.said(heartbeat.key, 'status.json'), { message: 'operational' });
  t.match(await api.said(check.key, 'status.json'), { message: 'major outage', color: '#b91c1c' });
  const ofHeartbeat = await statsOf(api, `heartbeats/${heartbeatId}/stats?hours=720`);
  t.match(await api.said(heartbeat.key, 'uptime.json'), { message: cut(ofHeartbeat['uptime_percent']) });
  t.match(ofHeartbeat['uptime_percent'], /^80/u);
  const ofCheck = await statsOf(api, `webhook-checks/${checkId}/stats?hours=100`);
  t.match(await api.said(check.key, 'uptime.json?hours=100'), {
    label: 'uptime 100h',
    message: cut(ofCheck['uptime_percent']),
  });
  for (const { key } of [heartbeat, check]) {
    t.equal((await api.shown(key, 'latency.svg')).status, 404);
    t.equal((await api.shown(key, 'certificate.json')).status, 404);
  }
});

void t.test('the badge of a page says what the page says, and no more', async (t) => {
  const api = await badgesApi(t);
  const { clock, database } = api;
  const shownId = await oldMonitor(api, 100 * dayMs);
  const hiddenId = await oldMonitor(api, 100 * dayMs);
  await addRanges(database, [
    { monitorId: shownId, fromMs: clock.ms - 95 * dayMs, toMs: clock.ms - 40 * dayMs, status: 'DOWN' },
    { monitorId: shownId, fromMs: clock.ms - 40 * dayMs, toMs: clock.ms - 3 * dayMs, status: 'UP' },
    { monitorId: shownId, fromMs: clock.ms - 3 * dayMs, toMs: clock.ms - 2 * dayMs, status: 'DOWN' },
    { monitorId: shownId, fromMs: clock.ms - 2 * dayMs, toMs: null, status: 'UP' },
    { monitorId: hiddenId, fromMs: clock.ms - 95 * dayMs, toMs: null, status: 'DOWN' },
  ]);
  await setStatus(database, shownId, 'UP');
  await setStatus(database, hiddenId, 'DOWN');
  await evaluate(api);
  await refreshDays({ database, now: () => clock.ms });
  const pageId = await api.page({
    days: 30,
    items: [
      { type: 'monitor', id: shownId },
      { type: 'monitor', id: hiddenId, show_uptime: false },
    ],
  });
  const { key } = await api.badge({ type: 'page', id: pageId });
  t.match(await api.said(key, 'status.json'), { label: 'status', message: 'partial outage', color: '#c2410c' });
  const expected = `${(Math.floor((29 / 30) * 10_000) / 100).toFixed(2)}%`;
  t.match(await api.said(key, 'uptime.json'), { label: 'uptime 30d', message: expected });
  t.match(
    await api.said(key, 'uptime.json?hours=2400'),
    { label: 'uptime 30d', message: expected },
    'no more than its days',
  );
  t.match(await api.said(key, 'uptime.json?hours=24'), { label: 'uptime 24h', message: '100%' });
  t.equal((await api.shown(key, 'latency.svg')).status, 404);
  t.equal((await api.shown(key, 'certificate.svg')).status, 404);

  await api.call('PUT', `/api/v1/status-pages/${pageId}`, { token: api.token, body: { is_published: false } });
  clock.ms += 120_000;
  t.equal((await api.shown(key, 'status.svg')).status, 404, 'a page that is not published has none');
  t.equal((await api.shown(key, 'uptime.svg')).status, 404);
  await api.call('PUT', `/api/v1/status-pages/${pageId}`, {
    token: api.token,
    body: { is_published: true, items: [] },
  });
  clock.ms += 120_000;
  t.match(await api.said(key, 'status.json'), { message: 'no data' });
  t.match(await api.said(key, 'uptime.json'), { message: 'no data' });
});

void t.test('documents are public, small, safe to embed, and known again', async (t) => {
  const api = await badgesApi(t);
  const { id } = await api.monitor({ name: 'internal name' });
  await setStatus(api.database, id, 'UP');
  const { key } = await api.badge({ type: 'monitor', id });
  const svg = await api.shown(key, 'status.svg');
  t.equal(svg.status, 200);
  t.match(Object.fromEntries(svg.headers), {
    'content-type': 'image/svg+xml; charset=utf-8',
    'cache-control': 'public, max-age=60',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'content-security-policy': /^default-src 'none'.*sandbox$/,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  t.notOk(svg.headers.has('set-cookie'));
  t.match(svg.text, 'role="img" aria-label="status: operational"');
  t.notMatch(svg.text, 'internal name');
  const json = await api.shown(key, 'status.json');
  t.equal(json.headers.get('content-type'), 'application/json; charset=utf-8');
  t.equal(json.headers.get('access-control-allow-origin'), '*');
  t.notMatch(json.text, 'internal name');

  const etag = svg.headers.get('etag') ?? '';
  const same = await api.shown(key, 'status.svg', { headers: { 'if-none-match': etag } });
  t.equal(same.status, 304);
  t.equal(same.text, '');
  t.equal(same.headers.get('cache-control'), 'public, max-age=60');
  api.clock.ms += 120_000;
  t.equal(
    (await api.shown(key, 'status.svg', { headers: { 'if-none-match': etag } })).status,
    304,
    'read anew, it is the same',
  );
  const host = { host: 'parallax.example' };
  const head = await api.call('HEAD', `/badge/${key}/status.svg`, { headers: host });
  t.equal(head.status, 200);
  t.equal(head.text, '');
  t.equal((await api.call('POST', `/badge/${key}/status.svg`, { headers: host })).status, 404);
  const packed = await api.shown(key, 'status.svg', { headers: { 'accept-encoding': 'br' } });
  t.equal(packed.headers.get('content-encoding'), 'br');
});

void t.test('what is no badge is grey, and is told in the same way whatever is wrong', async (t) => {
  const api = await badgesApi(t);
  const { key } = await api.badge({ type: 'monitor', id: (await api.monitor()).id });
  const other = `${key.slice(0, -7)}${key.at(-7) === 'a' ? 'b' : 'a'}${key.slice(-6)}`;
  for (const document of [
    `/badge/${other}/status.svg`,
    `/badge/${other}/nothing.svg`,
    `/badge/${key}/nothing.svg`,
    `/badge/${key}/status.png`,
    `/badge/${key}/status.svg/more`,
    `/badge/${key}/`,
    `/badge/${key}`,
    '/badge/',
    '/badge/%00/status.svg',
    `/badge/${key}%2fstatus.svg`,
    `/badge/${key.toLowerCase()}/status.svg`,
    `/badge/bdg_${'a'.repeat(38)}/status.svg`,
  ]) {
    const answer = await api.call('GET', document, { headers: { host: 'parallax.example' } });
    t.equal(answer.status, 404, document);
    t.match(answer.text, /fill="#667080".*>not found</u, document);
    t.equal(answer.headers.get('cache-control'), 'public, max-age=60');
  }
  t.match((await api.shown(other, 'status.json')).body, { message: 'not found', isError: true, color: '#667080' });
  for (const hours of ['0', '9601', '-1', '1.5', 'x', '', '1e3', '99999999999']) {
    const answer = await api.shown(key, `uptime.svg?hours=${hours}`);
    t.equal(answer.status, 400, hours);
    t.match(answer.text, 'invalid hours');
  }
  t.equal((await api.shown(key, 'uptime.svg?hours=9600')).status, 200);
});

void t.test('labels of others are cut and harmless', async (t) => {
  const api = await badgesApi(t);
  const { key } = await api.badge({ type: 'monitor', id: (await api.monitor()).id });
  const shown = async (label: string) => {
    const answer = await api.shown(key, `status.svg?label=${encodeURIComponent(label)}`);
    t.equal(answer.status, 200, label);
    t.ok(Buffer.byteLength(answer.text) <= 2_048, `${Buffer.byteLength(answer.text)} bytes: ${label}`);
    return answer.text;
  };
  t.match(await shown('API & <b>"x"</b>'), 'aria-label="API &amp; &lt;b&gt;&#34;x&#34;&lt;/b&gt;: no data"');
  for (const label of [
    '"><script>alert(1)</script>',
    "' onload='alert(1)",
    '<![CDATA[',
    '&xxe;',
    '\u0000\u0008\u001b[31m',
    '\u202eevil\u2066',
    '\ufffe\uffff',
    'x'.repeat(1_500),
    '&'.repeat(500),
    '"'.repeat(500),
    '漢'.repeat(100),
    '😀'.repeat(100),
    `e${'\u0301'.repeat(100)}`,
  ]) {
    const text = await shown(label);
    t.notMatch(text, /<script|onload=['"]|<!\[CDATA|&xxe|[\p{Cc}\u202e\u2066\ufffe\uffff]/u, JSON.stringify(label));
    const tags = text.match(/<[a-z]+/g);
    t.ok(
      tags?.every((tag) => ['<svg', '<title', '<path', '<g', '<text'].includes(tag)),
      JSON.stringify(tags),
    );
  }
  t.match(await shown(''), 'aria-label="no data"', 'no label at all');
  t.equal((await api.shown(key, 'status.svg?label=%ff%c0%80%zz%ed%a0%80')).status, 200);
  t.match((await api.shown(key, 'status.json?label=My%20API')).body, { label: 'My API' });
});

void t.test('while the database hangs or is away, a badge goes on as it was', async (t) => {
  const api = await badgesApi(t);
  const { id } = await api.monitor();
  await setStatus(api.database, id, 'UP');
  const { key } = await api.badge({ type: 'monitor', id });
  const other = await api.badge({ type: 'heartbeat', id: await api.heartbeat() });
  t.match(await api.said(key, 'status.json'), { message: 'operational' });
  api.clock.ms += 3_600_000;
  await api.database.worker.transaction(async (tx) => {
    await tx.query(sql.unsafe`lock table badges in access exclusive mode`);
    const startedMs = performance.now();
    t.match(await api.said(key, 'status.json'), { message: 'operational' });
    const waitedMs = performance.now() - startedMs;
    t.ok(waitedMs > 1_500, `${waitedMs} ms: it waits for the new one a little`);
    const again = performance.now();
    t.match(await api.said(key, 'status.json?label=x'), { message: 'operational', label: 'x' });
    t.ok(performance.now() - again < 1_000, 'others do not wait after it');
  });
  await api.database.api.end();
  api.clock.ms += 3_600_000;
  t.match(await api.said(key, 'status.json'), { message: 'operational' });
  const unread = await api.shown(other.key, 'status.svg');
  t.equal(unread.status, 503, 'one that nobody has asked for cannot be shown');
  t.equal(unread.headers.get('retry-after'), '5');
  t.equal((await api.shown('bdg_x', 'status.svg')).status, 404, 'what can be no key is not looked for');
});

void t.test(
  'keys that are made up are asked for once a second and address, badges that are there by the usual rate',
  async (t) => {
    const api = await badgesApi(t);
    const { key } = await api.badge({ type: 'monitor', id: (await api.monitor()).id });
    t.equal((await api.shown(key, 'status.svg')).status, 200);
    const from = '198.51.100.7';
    const madeUp = Array.from({ length: 90 }, () => badgeKey.make());
    const answers = await Promise.all(madeUp.map((one) => api.shown(one, 'status.svg', { from })));
    const refused = answers.filter(({ status }) => status === 429).length;
    t.ok(refused >= 20 && refused <= 30, `${refused} of 90 were refused`);
    t.equal(answers.filter(({ status }) => status === 404).length, 90 - refused);
    const malformed = await Promise.all(Array.from({ length: 90 }, () => api.shown('bdg_x', 'status.svg', { from })));
    t.ok(
      malformed.every(({ status }) => status === 404),
      'what can be no key costs nothing',
    );
    const there = await Promise.all(Array.from({ length: 90 }, () => api.shown(key, 'status.svg', { from })));
    t.ok(there.every(({ status }) => status === 200));
    api.clock.ms += 3_600_000;
    const old = await Promise.all(Array.from({ length: 90 }, () => api.shown(key, 'status.svg', { from })));
    t.ok(
      old.every(({ status }) => status === 200),
      'also when it must be read anew',
    );
  },
);
