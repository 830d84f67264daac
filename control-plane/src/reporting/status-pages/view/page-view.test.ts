import t from 'tap';
import { addRanges, setStatus } from '../../../monitoring/testing.ts';
import type { TestRange } from '../../../monitoring/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { dayMs, hourMs, minuteMs } from '../../testing.ts';
import { at, pagesApi } from './testing.ts';
import type { PagesApi } from './testing.ts';

const zone = 'Europe/Berlin';
const dateOf = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });

type Kind = 'none' | 'UP' | 'DEGRADED' | 'DOWN' | 'TIMEOUT' | 'UNKNOWN' | 'MAINTENANCE' | 'PAUSED' | 'EXCLUDED';
type Piece = { readonly kind: Kind; readonly fromMs: number; readonly toMs: number };

const stepMs = 10_000;
/** Midnight of a zone is a multiple of the step; the present need not be. */
const aligned = (ms: number) => Math.floor(ms / stepMs) * stepMs;

/** A reference of its own: what each ten seconds of the last 92 days count as, and the days of the zone by its clock. The last ten may be cut by the present. */
class Reference {
  readonly #startMs: number;
  readonly #kinds: Kind[];
  readonly #nowMs: number;

  constructor(nowMs: number, pieces: readonly Piece[]) {
    this.#nowMs = nowMs;
    this.#startMs = aligned(nowMs - 92 * dayMs);
    const place = (ms: number) => Math.max(0, Math.ceil((ms - this.#startMs) / stepMs));
    this.#kinds = Array.from<Kind>({ length: place(nowMs) }).fill('none');
    for (const { kind, fromMs, toMs } of pieces) {
      this.#kinds.fill(kind, place(fromMs), place(toMs));
    }
  }

  /** Seconds of each day by kind, for the last 90 days of the zone. */
  days(): Map<string, Map<Kind, number>> {
    const days = new Map<string, Map<Kind, number>>();
    let hour = -1;
    let date = '';
    for (const [place, kind] of this.#kinds.entries()) {
      const ms = this.#startMs + place * stepMs;
      // Zones of this test change their date on whole hours.
      if (Math.floor(ms / hourMs) !== hour) {
        hour = Math.floor(ms / hourMs);
        date = dateOf.format(ms);
      }
      const sums = days.get(date) ?? new Map<Kind, number>();
      days.set(date, sums);
      sums.set(kind, (sums.get(kind) ?? 0) + Math.min(stepMs, this.#nowMs - ms) / 1_000);
    }
    const last = [...days].slice(-90);
    if (last.at(-1)?.[0] !== dateOf.format(this.#nowMs)) throw new Error('the reference does not end today');
    return new Map(last);
  }
}

const of = (sums: ReadonlyMap<Kind, number>, ...kinds: Kind[]) =>
  kinds.reduce((sum, kind) => sum + (sums.get(kind) ?? 0), 0);

function letter(sums: ReadonlyMap<Kind, number>): string {
  const down = of(sums, 'DOWN', 'TIMEOUT');
  const measured = down + of(sums, 'UP', 'DEGRADED');
  const length = [...sums.values()].reduce((sum, seconds) => sum + seconds, 0);
  if (down > 0) return down / measured >= 0.01 ? 'x' : 'p';
  if (of(sums, 'DEGRADED') > 0) return 'd';
  if (of(sums, 'MAINTENANCE') > length / 2) return 'm';
  return length - measured - of(sums, 'MAINTENANCE') > length / 10 ? 'n' : 'u';
}

/** @returns whole hundredths, so that nothing is rounded */
function hundredths(all: readonly ReadonlyMap<Kind, number>[]): { uptime: number | null; measured: number | null } {
  const sum = (...kinds: Kind[]) => all.reduce((total, sums) => total + of(sums, ...kinds), 0);
  const up = sum('UP', 'DEGRADED');
  const measured = up + sum('DOWN', 'TIMEOUT');
  const whole = measured + sum('UNKNOWN', 'MAINTENANCE', 'PAUSED', 'EXCLUDED');
  const share = (part: number, of: number) => (of === 0 ? null : Math.floor((part * 10_000) / of));
  return { uptime: share(up, measured), measured: share(measured, whole) };
}

const toHundredths = (percent: number | null) => (percent === null ? null : Math.round(percent * 100));

/** A monitor with a history of pieces; the last one lasts. */
async function monitorWith(api: PagesApi, name: string, ageMs: number, pieces: readonly Piece[]): Promise<number> {
  const id = await api.oldMonitor(ageMs, { name });
  const ranges = pieces.flatMap(({ kind, fromMs, toMs }): TestRange[] =>
    kind === 'UP' || kind === 'DEGRADED' || kind === 'DOWN' || kind === 'TIMEOUT'
      ? [{ monitorId: id, fromMs, toMs: toMs === api.nowMs ? null : toMs, status: kind }]
      : [],
  );
  await addRanges(api.database, ranges);
  return id;
}

void t.test('the page tells what is public, with the days that the ranges come to', async (t) => {
  const api = await pagesApi(t);
  const { nowMs } = api;
  const ago = (days: number) => (days === 0 ? nowMs : aligned(nowMs - days * dayMs));
  const piece = (kind: Kind, from: number, to: number): Piece => ({ kind, fromMs: ago(from), toMs: ago(to) });
  // The shortest piece is longer than a step, so that no present can make it empty.
  const shop = [
    piece('UP', 100, 71.3),
    piece('DOWN', 71.3, 71.2998),
    piece('UP', 71.2998, 50.4),
    piece('TIMEOUT', 50.4, 49.9),
    piece('UP', 49.9, 30.2),
    piece('DEGRADED', 30.2, 30.1),
    piece('UP', 30.1, 20),
    piece('UP', 19.5, 9),
    piece('DOWN', 9, 8.9),
    piece('UP', 8.9, 5),
    piece('DOWN', 5, 4.99),
    piece('UP', 4.99, 0),
  ];
  const young = [piece('UP', 12.5, 3), piece('DOWN', 3, 2.7), piece('UP', 2.7, 0)];
  const shopId = await monitorWith(api, 'internal shop', 100 * dayMs, shop);
  const youngId = await monitorWith(api, 'internal young', nowMs - ago(12.6), young);
  const { worker } = api.database;
  await worker.query(sql.unsafe`
    insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at, ended_at)
    values (${api.workspaceId}, 1, 'monitor', ${shopId}, ${at(ago(40))}, ${at(ago(38.3))})`);
  await worker.query(sql.unsafe`
    insert into pauses (monitor_id, started_at, ended_at) values (${shopId}, ${at(ago(15))}, ${at(ago(14.5))})`);
  const correct = async (as: string, from: number, to: number) => {
    const body = {
      started_at: new Date(ago(from)).toISOString(),
      ended_at: new Date(ago(to)).toISOString(),
      counted_as: as,
      reason: 'a proof',
    };
    const answer = await api.call('POST', `/api/v1/monitors/${shopId}/sla/corrections`, { token: api.token, body });
    t.equal(answer.status, 201, answer.text);
  };
  await api.settle();
  await correct('UP', 9, 8.95);
  await correct('EXCLUDED', 5.5, 4.5);
  await api.settle();
  const groupId = await api.group('internal group', [shopId, youngId]);
  const page = await api.page({ timezone: zone });
  const shopItem = await api.item(page, { type: 'monitor', id: shopId }, { name: 'Shop', section: 'Sales' });
  await api.item(page, { type: 'group', id: groupId }, { name: 'All of it', section: 'Sales' });
  await api.item(page, { type: 'monitor', id: youngId }, { name: 'Hidden uptime', showUptime: false });

  const ofShop = new Reference(nowMs, [
    { kind: 'UNKNOWN', fromMs: nowMs - 100 * dayMs, toMs: nowMs },
    ...shop,
    piece('MAINTENANCE', 40, 38.3),
    piece('PAUSED', 15, 14.5),
    piece('UP', 9, 8.95),
    piece('EXCLUDED', 5.5, 4.5),
  ]).days();
  const ofYoung = new Reference(nowMs, [{ kind: 'UNKNOWN', fromMs: ago(12.6), toMs: nowMs }, ...young]).days();
  const status = await api.status(page);
  const [first, second, third] = status.components;
  t.equal(first?.days, [...ofShop.values()].map(letter).join(''));
  t.equal(first?.days.length, 90);
  t.match(first?.days, /x.*m.*d.*n.*p?/u, 'the history has all of them');
  const expected = hundredths([...ofShop.values()]);
  t.equal(toHundredths(first?.uptime_percent ?? null), expected.uptime);
  t.equal(toHundredths(first?.measured_percent ?? null), expected.measured);
  const downDays = [...ofShop].flatMap(([date, sums]) => {
    const down = of(sums, 'DOWN', 'TIMEOUT');
    return down > 0 ? [{ date, down_seconds: down }] : [];
  });
  t.same(
    first?.troubles.filter(({ down_seconds: down }) => down > 0),
    downDays.toReversed(),
  );

  const worst = [...ofShop].map(([date, sums]) => {
    const member = ofYoung.get(date) ?? new Map<Kind, number>();
    const isThere = [...member].some(([kind, seconds]) => kind !== 'none' && seconds > 0);
    const letters = new Set([letter(sums), ...(isThere ? [letter(member)] : [])]);
    return ['x', 'p', 'd', 'm', 'n', 'u'].find((each) => letters.has(each));
  });
  t.equal(second?.days, worst.join(''), 'a group has the worst of its members that were there');
  const ofGroup = hundredths([...ofShop.values(), ...ofYoung.values()]);
  t.equal(toHundredths(second?.uptime_percent ?? null), ofGroup.uptime);
  t.equal(toHundredths(second?.measured_percent ?? null), ofGroup.measured);
  t.match(third, {
    name: 'Hidden uptime',
    days: '',
    uptime_percent: null,
    measured_percent: null,
    troubles: [],
    group: null,
  });
  t.match(first, { id: shopItem, name: 'Shop', group: 'Sales' });
  t.match(status.page, { name: 'Shop status', timezone: zone, url: `${api.context.publicUrl}/status/${page.slug}` });

  const view = await api.view(page);
  t.same(await api.view(page), view, 'the same data tell the same');
  t.equal(view.lastDate, dateOf.format(nowMs));
  t.equal(view.sections.length, 2);
  t.match(view.sections[0], { name: 'Sales', id: /^[a-z0-9]{12}$/ });
  t.equal(view.sections[1]?.id, null);
  const troubles = view.sections[0]?.components[0]?.troubles ?? [];
  t.ok(
    troubles.some(({ maintenanceSeconds }) => maintenanceSeconds > dayMs / 2_000),
    'a day of maintenance is told',
  );
});

void t.test('uptime of UTC pages is that of the service level report', async (t) => {
  const api = await pagesApi(t);
  const { nowMs } = api;
  const startMs = Math.floor(nowMs / dayMs) * dayMs - 29 * dayMs;
  const id = await monitorWith(api, 'one', 40 * dayMs, [
    { kind: 'UP', fromMs: nowMs - 40 * dayMs, toMs: startMs + 3 * dayMs + 1_234 },
    { kind: 'DOWN', fromMs: startMs + 3 * dayMs + 1_234, toMs: startMs + 3 * dayMs + 5 * hourMs },
    { kind: 'UP', fromMs: startMs + 3 * dayMs + 5 * hourMs, toMs: nowMs },
  ]);
  await api.settle();
  const body = {
    started_at: new Date(startMs + 3 * dayMs + hourMs).toISOString(),
    ended_at: new Date(startMs + 3 * dayMs + 2 * hourMs).toISOString(),
    counted_as: 'UP',
    reason: 'a proof',
  };
  const answer = await api.call('POST', `/api/v1/monitors/${id}/sla/corrections`, { token: api.token, body });
  t.equal(answer.status, 201, answer.text);
  const page = await api.page({ days: 30 });
  await api.item(page, { type: 'monitor', id });
  const window = `start_time=${new Date(startMs).toISOString()}&end_time=${new Date(nowMs).toISOString()}`;
  const sla = await api.get(`/api/v1/monitors/${id}/sla?${window}`);
  const [component] = (await api.status(page)).components;
  t.equal(component?.uptime_percent, Math.floor(Number(sla['uptime_percent']) * 100) / 100);
  t.not(sla['uptime_percent'], sla['measured_uptime_percent']);
});

void t.test('words of monitors, heartbeats and webhook checks', async (t) => {
  const api = await pagesApi(t);
  const { nowMs, database } = api;
  const { worker } = database;
  const page = await api.page({ delayMinutes: 5 });
  const monitor = async (name: string, status: string) => {
    const { id } = await api.monitor({ name });
    await setStatus(database, id, status);
    await worker.query(sql.unsafe`update monitors set status_since = ${at(nowMs - hourMs)} where id = ${id}`);
    await api.item(page, { type: 'monitor', id });
    return id;
  };
  await monitor('up', 'UP');
  await monitor('warning', 'WARNING');
  await monitor('degraded', 'DEGRADED');
  await monitor('partial', 'PARTIAL');
  await monitor('down', 'DOWN');
  await monitor('timeout', 'TIMEOUT');
  await monitor('never', 'UNKNOWN');
  const lost = await monitor('lost', 'UNKNOWN');
  const paused = await monitor('paused', 'DOWN');
  const covered = await monitor('covered', 'DOWN');
  const fresh = await monitor('fresh', 'DOWN');
  const turned = await monitor('turned', 'TIMEOUT');
  await addRanges(database, [
    { monitorId: lost, fromMs: nowMs - 3 * hourMs, toMs: nowMs - 2 * hourMs, status: 'DEGRADED' },
    { monitorId: paused, fromMs: nowMs - 3 * hourMs, toMs: nowMs - 2 * hourMs, status: 'UP' },
    { monitorId: fresh, fromMs: nowMs - 3 * hourMs, toMs: nowMs - minuteMs, status: 'UP' },
    { monitorId: fresh, fromMs: nowMs - minuteMs, toMs: null, status: 'DOWN' },
  ]);
  await worker.query(sql.unsafe`update monitors set is_active = false where id = ${paused}`);
  await worker.query(
    sql.unsafe`update monitors set status_since = ${at(nowMs - minuteMs)} where id in (${fresh}, ${turned})`,
  );
  await api.incident({
    startedMs: nowMs - 10 * minuteMs,
    visibility: 'hidden',
    members: [{ type: 'monitor', id: turned }],
  });
  await worker.query(sql.unsafe`
    insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at)
    values (${api.workspaceId}, 1, 'monitor', ${covered}, ${at(nowMs - 7 * minuteMs)})`);
  const heartbeatId = await api.heartbeat('nightly job');
  const checkId = await api.check('deliveries');
  const quietId = await api.heartbeat('new job');
  await worker.query(sql.unsafe`
    update heartbeats set status = 'down', reason = 'missed', deadline_at = null, status_since = ${at(nowMs - hourMs)} where id = ${heartbeatId}`);
  await worker.query(sql.unsafe`
    update webhook_checks set status = 'degraded', status_since = ${at(nowMs - hourMs)} where id = ${checkId}`);
  for (const [type, id] of [
    ['heartbeat', heartbeatId],
    ['webhook_check', checkId],
    ['heartbeat', quietId],
  ] as const)
    await api.item(page, { type, id });

  const view = await api.view(page);
  const words = Object.fromEntries(
    view.sections.flatMap(({ components }) => components.map(({ name, status }) => [name, status])),
  );
  t.same(words, {
    up: 'operational',
    warning: 'operational',
    degraded: 'degraded',
    partial: 'partial_outage',
    down: 'major_outage',
    timeout: 'major_outage',
    never: 'unknown',
    lost: 'degraded',
    paused: 'operational',
    covered: 'maintenance',
    fresh: 'operational',
    turned: 'major_outage',
    'nightly job': 'major_outage',
    deliveries: 'degraded',
    'new job': 'unknown',
  });
  const since = Object.fromEntries(
    view.sections.flatMap(({ components }) => components.map(({ name, sinceMs }) => [name, sinceMs])),
  );
  t.equal(since['down'], nowMs - hourMs);
  t.equal(since['covered'], nowMs - 7 * minuteMs);
  t.equal(since['turned'], nowMs - 10 * minuteMs);
  t.equal(since['lost'], nowMs - 3 * hourMs);
  t.equal(view.indicator, 'major');
});

void t.test('components in trouble alone, sections, and the indicator', async (t) => {
  const api = await pagesApi(t);
  const page = await api.page();
  const down = (await api.monitor({ name: 'a' })).id;
  const up = (await api.monitor({ name: 'b' })).id;
  await setStatus(api.database, down, 'DOWN');
  await setStatus(api.database, up, 'UP');
  await api.item(page, { type: 'monitor', id: up }, { onlyIfDegraded: true, section: 'One' });
  await api.item(page, { type: 'monitor', id: down }, { onlyIfDegraded: true, section: 'One' });
  const empty = await api.page();
  t.match(await api.view(empty), { indicator: 'unknown', sections: [], incidents: [], maintenance: [] });
  const view = await api.view(page);
  t.same(
    view.sections.map(({ name, status, components }) => [name, status, components.map((one) => one.name)]),
    [['One', 'partial_outage', ['a']]],
    'one that is well is not shown, and counts',
  );
  t.equal(view.indicator, 'major');
});

void t.test('a page that is not published is not there, and a former slug leads to it', async (t) => {
  const api = await pagesApi(t);
  const { worker } = api.database;
  const page = await api.page({ slug: 'shop' });
  const draft = await api.page({ slug: 'draft', isPublished: false });
  const gone = await api.page({ slug: 'gone' });
  await worker.query(sql.unsafe`update status_pages set deleted_at = now() where id = ${gone.id}`);
  await worker.query(sql.unsafe`
    insert into status_page_slugs (slug, workspace_id, page_id, taken_until) values
      ('former', ${api.workspaceId}, ${page.id}, now() + interval '1 day'), ('lapsed', ${api.workspaceId}, ${page.id}, now() - interval '1 day')`);
  const get = (slug: string) => api.call('GET', `/api/v1/public/status/${slug}`);
  t.equal((await get('shop')).status, 200);
  const moved = await get('former');
  t.same([moved.status, moved.headers.get('location')], [301, '/api/v1/public/status/shop']);
  const followed = await fetch(`${api.url}/api/v1/public/status/former`);
  t.equal(followed.status, 200);
  t.match(await followed.json(), { page: { url: `${api.context.publicUrl}/status/shop` } });
  for (const slug of ['draft', 'gone', 'lapsed', 'never', 'Shop', '%27%3b--', 'a'.repeat(63)]) {
    const answer = await get(slug);
    t.equal(answer.status, 404, `${slug}: ${answer.text}`);
  }
  t.equal(draft.slug, 'draft');
});

void t.test('nothing that is not public is told', async (t) => {
  const api = await pagesApi(t);
  const { nowMs, database } = api;
  const { worker } = database;
  const page = await api.page({ announcement: 'We move on Sunday.' });
  const shown = await api.monitor({
    name: 'SECRET-monitor',
    description: 'SECRET-description',
    url: 'https://secret-target.example/SECRET-path',
    tags: ['SECRET-tag'],
  });
  const beside = await api.monitor({ name: 'SECRET-beside', url: 'https://secret-target.example/' });
  const member = await api.monitor({ name: 'SECRET-member', url: 'https://secret-target.example/' });
  const groupId = await api.group('SECRET-group', [member.id]);
  const heartbeatId = await api.heartbeat('SECRET-heartbeat');
  const checkId = await api.check('SECRET-check');
  const shop = await api.item(page, { type: 'monitor', id: shown.id }, { name: 'Shop', showResponseTimes: true });
  await api.item(page, { type: 'group', id: groupId }, { name: 'Backend' });
  await api.item(page, { type: 'heartbeat', id: heartbeatId }, { name: 'Nightly job' });
  await api.item(page, { type: 'webhook_check', id: checkId }, { name: 'Deliveries' });
  for (const { id } of [shown, member]) await setStatus(database, id, 'DOWN');
  await addRanges(database, [{ monitorId: shown.id, fromMs: nowMs - hourMs, toMs: null, status: 'DOWN' }]);
  await worker.query(sql.unsafe`
    update status_ranges set evidence = '{"voters": [{"message": "SECRET-evidence"}]}' where monitor_id = ${shown.id}`);
  const members = [shown, beside, member].map(({ id }) => ({ type: 'monitor' as const, id }));
  const told = await api.incident({
    title: 'SECRET-title',
    startedMs: nowMs - hourMs,
    members,
    postmortem: 'SECRET-postmortem',
  });
  await worker.query(sql.unsafe`
    update incidents set description = 'SECRET-incident', fold_key = 'address:SECRET-address' where id = ${told}`);
  await worker.query(sql.unsafe`
    update incident_members set name = 'SECRET-name', title = 'SECRET-name is down', causes = '[{"message": "SECRET-cause"}]' where incident_id = ${told}`);
  await api.say(told, {
    kind: 'note',
    body: 'SECRET-note',
    isPublic: false,
    impacts: [{ component_id: shop, status: 'degraded' }],
  });
  await api.say(told, { kind: 'identified', body: 'We know what it is.' });
  await api.incident({
    publicTitle: 'SECRET-hidden',
    visibility: 'hidden',
    startedMs: nowMs - 2 * hourMs,
    resolvedMs: nowMs - hourMs,
    members,
  });
  await api.incident({ publicTitle: 'SECRET-draft', isManual: true, startedMs: nowMs - hourMs, members });
  const elsewhere = [{ type: 'monitor' as const, id: beside.id }];
  await api.incident({
    publicTitle: 'SECRET-elsewhere',
    visibility: 'public',
    startedMs: nowMs - 3 * hourMs,
    resolvedMs: nowMs,
    members: elsewhere,
  });
  for (const [isPublic, name] of [
    [true, 'SECRET-work'],
    [false, 'SECRET-quiet'],
  ] as const) {
    const maintenanceId = await worker.oneFirst(sql.typeAlias('id')`
      insert into maintenance (workspace_id, name, description, covers_all, starts_at, duration_seconds, status, is_public, public_title, public_text)
      values (${api.workspaceId}, ${name}, 'SECRET-plan', true, ${at(nowMs - hourMs)}, 7200, 'active', ${isPublic},
        ${isPublic ? null : 'SECRET-quiet'}, ${isPublic ? null : 'SECRET-quiet'}) returning id`);
    await worker.query(sql.unsafe`
      with o as (insert into maintenance_occurrences (workspace_id, maintenance_id, starts_at, ends_at)
        values (${api.workspaceId}, ${maintenanceId}, ${at(nowMs - hourMs)}, ${at(nowMs + hourMs)}) returning id)
      insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at)
      select ${api.workspaceId}, o.id, 'heartbeat', ${heartbeatId}, ${at(nowMs - hourMs)} from o`);
  }

  // Another tenant, whose rows a page would show if it were not for its workspace: numbers in an item alone name them.
  const other = await api.account('other@example.com');
  const workspace = await api.call('GET', '/api/v1/workspaces/default', { token: other.accessToken });
  const otherId = Number(workspace.body['id']);
  const foreign = await api.call('POST', '/api/v1/monitors', {
    token: other.accessToken,
    body: { workspace_id: otherId, name: 'SECRET-foreign', url: 'https://secret-target.example/' },
  });
  await worker.query(sql.unsafe`
    insert into incidents (workspace_id, title, public_title, visibility, is_manual, started_at)
    values (${otherId}, 'SECRET-foreign', 'SECRET-foreign', 'public', true, ${at(nowMs - hourMs)})`);
  await worker.query(sql.unsafe`
    insert into maintenance (workspace_id, name, covers_all, starts_at, duration_seconds, status, next_starts_at, next_ends_at, public_title)
    values (${otherId}, 'SECRET-foreign', true, ${at(nowMs + hourMs)}, 3600, 'scheduled', ${at(nowMs + hourMs)}, ${at(nowMs + 2 * hourMs)}, 'SECRET-foreign')`);
  t.equal(foreign.status, 201);
  await worker.query(sql.unsafe`
    update incident_members set subject_id = ${Number(foreign.body['id'])} where incident_id = ${told} and subject_id = ${member.id}`);
  await api.settle();

  const view = await api.view(page);
  for (const text of [JSON.stringify(view), JSON.stringify(await api.status(page))]) {
    t.notMatch(text, /secret/iu);
    t.notMatch(text, new RegExp(`owner@example\\.com|"workspace|connect_refused`, 'u'));
    for (const word of ['Shop', 'Backend', 'Nightly job', 'We know what it is.']) t.ok(text.includes(word), word);
  }
  t.equal(view.announcement, 'We move on Sunday.');
  t.same(
    view.incidents.map(({ title, componentNames }) => [title, componentNames]),
    [[null, ['Shop']]],
  );
  t.same(
    new Set(view.maintenance.map(({ title, componentNames }) => JSON.stringify([title, componentNames]))),
    new Set([JSON.stringify([null, ['Nightly job']]), JSON.stringify([null, []])]),
  );
});

void t.test('incidents and maintenance as they are stored', async (t) => {
  const api = await pagesApi(t);
  const { nowMs, database } = api;
  const page = await api.page({ delayMinutes: 10 });
  const { id } = await api.monitor({ name: 'internal' });
  await setStatus(database, id, 'UP');
  const shop = await api.item(page, { type: 'monitor', id }, { name: 'Shop' });
  const members = [{ type: 'monitor' as const, id }];
  const over = { startedMs: nowMs - 9 * hourMs, resolvedMs: nowMs - 8 * hourMs, members };
  await api.incident({ ...over, publicTitle: 'told', postmortem: 'It was us.', isPostmortemPublic: true });
  await api.incident({ ...over, publicTitle: 'short', resolvedMs: over.startedMs + 9 * minuteMs });
  await api.incident({ ...over, publicTitle: 'held', isHeld: true });
  await api.incident({ ...over, publicTitle: 'late', isLate: true });
  await api.incident({ ...over, publicTitle: 'corrected', resolution: 'corrected' });
  const whole = await api.incident({ ...over, publicTitle: 'whole', startedMs: nowMs - 10 * hourMs });
  await api.incident({ ...over, publicTitle: 'folded', resolution: 'folded', foldedInto: whole });
  const manual = await api.incident({
    publicTitle: 'by hand',
    isManual: true,
    severity: 'minor',
    startedMs: nowMs - hourMs,
  });
  const view0 = await api.view(page);
  t.same(
    view0.incidents.map(({ title }) => title),
    ['told', 'whole'],
  );
  t.equal(view0.indicator, 'none');
  t.match(view0.incidents[0], { status: 'postmortem', postmortem: 'It was us.' });
  t.ok(view0.sections[0]?.components[0]?.troubles.some(({ incidents }) => incidents.includes('told')));

  await api.say(manual, {
    kind: 'identified',
    body: 'A **cable**.',
    displayMs: nowMs - hourMs,
    impacts: [{ component_id: shop, status: 'partial_outage' }],
  });
  const view = await api.view(page);
  t.match(view.incidents[0], {
    title: 'by hand',
    status: 'identified',
    componentNames: ['Shop'],
    updates: [{ body: 'A **cable**.', displayMs: nowMs - hourMs, createdMs: nowMs }],
  });
  t.match(view.sections[0]?.components[0], { status: 'partial_outage', sinceMs: nowMs - hourMs });
  t.equal(view.indicator, 'minor');
  t.equal(view.updatedMs, nowMs);

  const plan = (body: object) =>
    api.call('POST', '/api/v1/maintenance', {
      token: api.token,
      body: {
        workspace_id: api.workspaceId,
        name: 'internal work',
        duration_seconds: 3_600,
        scope: { subjects: members },
        ...body,
      },
    });
  const starts = new Date(nowMs + 3 * dayMs).toISOString();
  t.equal((await plan({ starts_at: starts, rrule: 'FREQ=WEEKLY' })).status, 201);
  t.equal((await plan({ starts_at: new Date(nowMs + 31 * dayMs).toISOString() })).status, 201);
  await database.worker.query(
    sql.unsafe`update maintenance set public_title = 'Weekly work', public_text = 'An hour.'`,
  );
  const { maintenance } = await api.status(page);
  t.same(
    maintenance.map(({ title, status, starts_at: startsAt, component_ids: components }) => [
      title,
      status,
      startsAt,
      components,
    ]),
    [3, 10, 17, 24].map((days) => ['Weekly work', 'scheduled', new Date(nowMs + days * dayMs).toISOString(), [shop]]),
  );
  t.equal(new Set(maintenance.map(({ id: occurrence }) => occurrence)).size, 4);
});

void t.test('incidents of others that are public take no place, however many there are', async (t) => {
  const api = await pagesApi(t);
  const { nowMs, database } = api;
  const page = await api.page();
  const [{ id }, { id: otherId }] = [await api.monitor({ name: 'shown' }), await api.monitor({ name: 'of others' })];
  await setStatus(database, id, 'UP');
  const shop = await api.item(page, { type: 'monitor', id }, { name: 'Shop' });
  const members = [{ type: 'monitor' as const, id }];
  await api.incident({ publicTitle: 'old', startedMs: nowMs - 3 * dayMs, resolvedMs: nowMs - 2 * dayMs, members });
  const named = await api.incident({
    publicTitle: 'named',
    startedMs: nowMs - 4 * dayMs,
    resolvedMs: nowMs - 3 * dayMs,
    members: [{ type: 'monitor', id: otherId }],
  });
  await api.say(named, { impacts: [{ component_id: shop, status: 'degraded' }] });
  await database.worker.query(sql.unsafe`
    with made as (
      insert into incidents (workspace_id, title, public_title, severity, started_at, resolved_at, status, resolution)
      select ${api.workspaceId}, 'other', 'other ' || n, 'major', ${at(nowMs - dayMs)}, ${at(nowMs - hourMs)}, 'resolved', 'auto'
      from generate_series(1, 250) n returning id, workspace_id, started_at, resolved_at),
    joined as (
      insert into incident_members (workspace_id, incident_id, subject_type, subject_id, name, title, started_at, ended_at, resolution, is_manual)
      select workspace_id, id, 'monitor', ${otherId}, 'x', 'x', started_at, resolved_at, 'auto', false from made)
    insert into incident_updates (workspace_id, incident_id, kind, body, is_public)
    select workspace_id, id, 'identified', 'We look at it.', true from made`);
  // More often than PostgreSQL plans a statement anew for its values.
  for (let n = 0; n < 12; n += 1) {
    const { incidents } = await api.view(page);
    t.same(
      incidents.map(({ title, componentIds }) => [title, componentIds]),
      [
        ['old', [shop]],
        ['named', [shop]],
      ],
    );
  }
});
