import { quietLog } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { subscriberServices } from './index.ts';
import { tellNews } from './news/news.job.ts';
import { claimNotices, mostPerSecond, sweepSubscribers } from './sending/claim.queries.ts';
import { sendDueNotices } from './sending/sender.job.ts';
import { subscribersApi } from './testing.ts';

/** The goal: a page with 10,000 subscribers has queued what it tells within five seconds. */
const goalMs = 5_000;

void t.test('what pages tell their subscribers', async (t) => {
  let refusing: 'none' | 'user' | 'later' = 'none';
  const api = await subscribersApi(t, {}, undefined, {
    onRcptTo: ({ address }, _session, callback) => {
      if (refusing === 'none' || !address.startsWith('gone')) return callback();
      const error = refusing === 'user' ? '550 5.1.1 no such user' : '451 4.3.0 try later';
      callback(Object.assign(new Error(error.slice(4)), { responseCode: Number(error.slice(0, 3)) }));
    },
  });
  const { worker } = api.database;
  const subjects = (mails: Awaited<ReturnType<typeof api.told>>) => mails.map(({ parsed }) => parsed.subject);
  const waiting = sql.fragment`status_page_notices where told_id < wanted_id`;

  await t.test('each is told once, however many look and send at the same time', async (t) => {
    const page = await api.page();
    await api.manySubscribed(page, ['a@example.com', 'b@example.com', 'c@example.com']);
    const before = api.mails.taken.length;
    const incident = await api.outage(page.monitors[0]);
    const look = () => tellNews(api.context, quietLog, null);
    await Promise.all([look(), look(), look()]);
    await Promise.all([1, 2, 3, 4].map(() => sendDueNotices(api.context, quietLog)));
    await look();
    await api.told();
    const mails = api.mails.taken.slice(before);
    t.same(mails.map(({ to }) => to.join()).toSorted(), ['a@example.com', 'b@example.com', 'c@example.com']);
    t.equal(new Set(mails.map(({ parsed }) => parsed.messageId)).size, 3);
    await api.resolve(incident);
    t.same(await api.told(), [], 'not within five minutes');
    await api.pass(301);
    t.equal((await api.told()).length, 3);
    await api.pass(301);
    t.same(await api.told(), []);
  });

  await t.test('the jobs of a worker do it by themselves', async (t) => {
    const page = await api.page();
    await api.manySubscribed(page, ['own@example.com']);
    const before = api.mails.taken.length;
    const running = await Promise.all(subscriberServices.map(async ({ start }) => start(api.context, api.context.log)));
    await api.outage(page.monitors[0]);
    await api.mails.arrived(before + 1);
    await Promise.all(running.map(({ stop }) => stop()));
    t.same(
      api.mails.taken.slice(before).map(({ to }) => to.join()),
      ['own@example.com'],
    );
  });

  await t.test('what comes within five minutes is put together, and what is not to be told is left out', async (t) => {
    const page = await api.page();
    await api.manySubscribed(page, ['d@example.com']);
    const incident = await api.outage(page.monitors[0]);
    t.equal((await api.told()).length, 1);
    await api.say(incident, 'A switch is *broken*.\n\nWe replace it.');
    await api.say(incident, 'A typo is mended.', { notify: false });
    t.same(await api.told(), []);
    await api.say(incident, 'It is replaced.', { kind: 'monitoring' });
    t.same(await api.told(), []);
    await api.pass(301);
    const [mail, ...more] = await api.told();
    t.equal(more.length, 0);
    t.equal(mail?.parsed.subject, '[Shop] Checkout: outage – Monitoring');
    t.match(
      mail?.parsed.text,
      /Identified · .*Europe\/Berlin[^]*A switch is \*broken\*\.\n\nWe replace it\.\n\nMonitoring · [^]*It is replaced\./,
    );
    t.notMatch(mail?.parsed.text, 'typo');
  });

  await t.test('an incident that opens again ends again', async (t) => {
    const page = await api.page();
    await api.manySubscribed(page, ['e@example.com']);
    const incident = await api.outage(page.monitors[0]);
    await api.told();
    await api.resolve(incident);
    await api.pass(301);
    t.same(subjects(await api.told()), ['[Shop] Checkout: outage – Resolved']);
    await worker.query(sql.unsafe`
      update incidents set resolved_at = resolved_at + interval '1 second' where id = ${incident}`);
    await api.pass(301);
    t.same(await api.told(), [], 'an end that is corrected is no other');
    await worker.query(sql.unsafe`
      update incidents set resolved_at = null, resolution = null, status = 'open' where id = ${incident}`);
    t.same(await api.told(), []);
    await api.resolve(incident);
    await api.pass(301);
    t.same(subjects(await api.told()), ['[Shop] Checkout: outage – Resolved']);
  });

  await t.test('what the page does not tell is told nobody', async (t) => {
    const page = await api.page();
    await api.manySubscribed(page, ['f@example.com']);
    const hide = async (incident: number) => {
      await worker.query(sql.unsafe`update incidents set visibility = 'hidden' where id = ${incident}`);
    };
    const hidden = await api.outage(page.monitors[0]);
    await hide(hidden);
    await api.say(hidden, 'Nobody shall read it.');
    t.same(await api.told(), []);
    await worker.query(sql.unsafe`update status_pages set notify_automatic = false where id = ${page.id}`);
    const incident = await api.outage(page.monitors[0]);
    t.same(await api.told(), [], 'automatic incidents are not told, as the page wants');
    const regretted = await api.outage(page.monitors[1]);
    await api.say(regretted, 'It was a mistake to publish it.');
    t.equal(await tellNews(api.context, quietLog, null), 1);
    await hide(regretted);
    t.same(await api.told(), [], 'what waits of something that was hidden is not sent');
    await api.say(incident, 'Somebody wrote it.');
    const [mail] = await api.told();
    t.match(mail?.parsed.text, 'Somebody wrote it.');
    t.notMatch(mail?.parsed.text, 'Our checks');
    await worker.query(sql.unsafe`update status_pages set notify_automatic = true where id = ${page.id}`);
    await api.outage(page.monitors[1]);
    await worker.query(sql.unsafe`update incidents set started_at = now() - interval '2 days', created_at = now() - interval '2 days'
      where resolved_at is null and id > ${incident}`);
    await worker.query(
      sql.unsafe`update status_page_subscribers set active_at = now() - interval '3 days' where page_id = ${page.id}`,
    );
    await api.pass(301);
    t.notMatch(subjects(await api.told()).join(), 'Search', 'what is older than a day is no news');
  });

  await t.test('maintenance is told when it is planned, shortly before, when it begins and when it ends', async (t) => {
    const page = await api.page();
    await api.manySubscribed(page, ['g@example.com']);
    // It covers all monitors, so that the pages of the other tests would tell it too.
    await worker.query(sql.unsafe`delete from status_page_subscribers where page_id <> ${page.id}`);
    const aheadMs = { now: 0 };
    const told = async () => {
      await tellNews({ ...api.context, now: () => Date.now() + aheadMs.now }, quietLog, null);
      await api.pass(301);
      return subjects(await api.sent());
    };
    const id = await worker.oneFirst(sql.type(z.object({ id: z.number() }))`
      insert into maintenance (workspace_id, name, public_title, public_text, covers_all, starts_at, duration_seconds, next_starts_at, next_ends_at,
        status, remind_hours)
      values (${api.workspaceId}, 'internal name', 'New disks', 'It is *slower* for a while.', true, now() + interval '5 hours', 3600,
        now() + interval '5 hours', now() + interval '6 hours', 'scheduled', 4) returning id`);
    t.same(await told(), ['[Shop] New disks – Maintenance is scheduled']);
    const [planned] = api.mails.taken.slice(-1);
    t.match(planned?.parsed.text, 'It is *slower* for a while.');
    t.match(planned?.parsed.text, 'Affects: Checkout and Search');
    t.notMatch(planned?.raw.toString(), 'internal');
    t.same(await told(), []);
    aheadMs.now = 90 * 60_000;
    t.same(await told(), ['[Shop] New disks – Maintenance begins soon']);
    await worker.query(sql.unsafe`
      with o as (insert into maintenance_occurrences (workspace_id, maintenance_id, starts_at, ends_at)
          select workspace_id, id, next_starts_at, next_ends_at from maintenance where id = ${id} returning id, starts_at)
      insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at)
      select ${api.workspaceId}, o.id, 'monitor', ${page.monitors[0]}, o.starts_at from o`);
    aheadMs.now = 5.5 * 3_600_000;
    t.same(await told(), ['[Shop] New disks – Maintenance has begun']);
    await worker.query(sql.unsafe`
      update maintenance set status = 'completed', next_starts_at = null, next_ends_at = null where id = ${id}`);
    await worker.query(
      sql.unsafe`update maintenance_occurrences set ended_at = ends_at, end_reason = 'elapsed' where maintenance_id = ${id}`,
    );
    await worker.query(sql.unsafe`update maintenance_subjects set ended_at = started_at + interval '1 hour'`);
    aheadMs.now = 6.5 * 3_600_000;
    t.same(await told(), ['[Shop] New disks – Maintenance is completed']);
    await worker.query(sql.unsafe`
      insert into maintenance (workspace_id, name, public_title, covers_all, starts_at, duration_seconds, next_starts_at, next_ends_at, status, is_public)
      values (${api.workspaceId}, 'internal name', 'Hidden', true, now() + interval '15 hours', 3600, now() + interval '15 hours',
        now() + interval '16 hours', 'scheduled', false)`);
    t.same(await told(), [], 'of what is not public the word alone is shown');
  });

  await t.test('maintenance that is moved or cancelled is told as that, once', async (t) => {
    const page = await api.page();
    await worker.query(sql.unsafe`delete from status_page_subscribers where page_id <> ${page.id}`);
    await worker.query(sql.unsafe`delete from maintenance_subjects`);
    await worker.query(sql.unsafe`delete from maintenance_occurrences`);
    await worker.query(sql.unsafe`delete from maintenance`);
    await api.manySubscribed(page, ['p@example.com']);
    const told = async () => {
      await Promise.all([1, 2, 3].map(() => tellNews(api.context, quietLog, null)));
      await tellNews(api.context, quietLog, null);
      await api.pass(301);
      return api.sent();
    };
    const plan = async (title: string, more: { readonly notify?: boolean; readonly rrule?: string } = {}) =>
      worker.oneFirst(sql.type(z.object({ id: z.number() }))`
        insert into maintenance (workspace_id, name, public_title, covers_all, starts_at, duration_seconds, next_starts_at, next_ends_at, status, notify,
          rrule)
        values (${api.workspaceId}, 'internal name', ${title}, true, now() + interval '5 hours', 3600, now() + interval '5 hours',
          now() + interval '6 hours', 'scheduled', ${more.notify ?? true}, ${more.rrule ?? null}) returning id`);
    const move = (id: number, hours: number) =>
      worker.query(sql.unsafe`
        update maintenance set starts_at = starts_at + make_interval(hours => ${hours}), next_starts_at = next_starts_at + make_interval(hours => ${hours}),
          next_ends_at = next_ends_at + make_interval(hours => ${hours}), updated_at = clock_timestamp() where id = ${id}`);
    const cancel = (id: number) =>
      worker.query(sql.unsafe`
        update maintenance set status = 'cancelled', next_starts_at = null, next_ends_at = null, updated_at = clock_timestamp() where id = ${id}`);
    const id = await plan('New disks');
    await told();
    await move(id, 2);
    const [moved, ...others] = await told();
    t.same(others, []);
    t.equal(moved?.parsed.subject, '[Shop] New disks – Maintenance is moved');
    t.match(moved?.parsed.text, /It was planned for .+ – .+/);
    await move(id, -2);
    t.same(subjects(await told()), ['[Shop] New disks – Maintenance is moved'], 'back to its time');
    t.same(await told(), []);
    await move(id, 24 * 40);
    t.same(subjects(await told()), ['[Shop] New disks – Maintenance is moved'], 'to where the page does not look yet');
    await cancel(id);
    t.same(subjects(await told()), ['[Shop] New disks – Maintenance is cancelled']);
    t.same(await told(), []);
    const deleted = await plan('Old disks');
    await told();
    await worker.query(sql.unsafe`
      update maintenance set deleted_at = clock_timestamp(), status = 'cancelled', next_starts_at = null, next_ends_at = null where id = ${deleted}`);
    t.same(subjects(await told()), ['[Shop] Old disks – Maintenance is cancelled']);
    const quiet = await plan('Quiet', { notify: false });
    await move(quiet, 1);
    await cancel(quiet);
    t.same(await told(), [], 'as whoever planned it wants');
    const hidden = await plan('Hidden');
    await told();
    await worker.query(sql.unsafe`update maintenance set is_public = false where id = ${hidden}`);
    await cancel(hidden);
    t.same(await told(), [], 'what is not public any more is told nobody');
    const series = await plan('Series', { rrule: 'FREQ=DAILY' });
    t.same(subjects(await told()), ['[Shop] Series – Maintenance is scheduled']);
    await move(series, 3);
    t.same(subjects(await told()), ['[Shop] Series – Maintenance is moved']);
    await cancel(series);
    await told();
    const broken = await plan('Broken off');
    await told();
    await worker.query(sql.unsafe`
      with o as (insert into maintenance_occurrences (workspace_id, maintenance_id, starts_at, ends_at)
          select workspace_id, id, next_starts_at, next_ends_at from maintenance where id = ${broken} returning id)
      insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at)
      select ${api.workspaceId}, o.id, 'monitor', ${page.monitors[0]}, now() from o`);
    await worker.query(
      sql.unsafe`update maintenance_occurrences set starts_at = now() where maintenance_id = ${broken}`,
    );
    await told();
    await cancel(broken);
    await worker.query(sql.unsafe`
      update maintenance_occurrences set ended_at = now(), end_reason = 'cancelled' where maintenance_id = ${broken}`);
    await worker.query(sql.unsafe`update maintenance_subjects set ended_at = now()`);
    t.same(subjects(await told()), ['[Shop] Broken off – Maintenance is cancelled'], 'it is not completed');
    t.same(await told(), []);
    await worker.query(sql.unsafe`delete from maintenance_subjects`);
    await worker.query(sql.unsafe`delete from maintenance_occurrences`);
    await worker.query(sql.unsafe`delete from maintenance`);
  });

  await t.test('a postmortem is told once, when it becomes public', async (t) => {
    const page = await api.page();
    await api.manySubscribed(page, ['r@example.com']);
    const publish = (incident: number, notify = true) =>
      worker.query(sql.unsafe`
        update incidents set postmortem = 'A disk was *full*.', postmortem_public = true, postmortem_notify = ${notify},
          postmortem_public_at = coalesce(postmortem_public_at, clock_timestamp()) where id = ${incident}`);
    const after = async () => {
      await api.pass(301);
      return api.told();
    };
    const incident = await api.outage(page.monitors[0]);
    await api.told();
    await publish(incident);
    t.same(await after(), [], 'not before the incident is over');
    await api.resolve(incident);
    const [mail] = await after();
    t.equal(mail?.parsed.subject, '[Shop] Checkout: outage – Postmortem');
    t.match(mail?.parsed.text, /Resolved · [^]*Postmortem · [^]*A disk was \*full\*\./);
    await worker.query(sql.unsafe`update incidents set postmortem = 'It was two.' where id = ${incident}`);
    t.same(await after(), []);
    const quiet = await api.outage(page.monitors[0]);
    await api.resolve(quiet);
    await publish(quiet, false);
    t.same(
      subjects(await after()).filter((subject) => subject?.includes('Postmortem')),
      [],
      'as whoever wrote it wants',
    );
  });

  await t.test('a mailbox that is gone ends it; a server that is away is asked again', async (t) => {
    const page = await api.page();
    await api.manySubscribed(page, ['gone@example.com', 'here@example.com']);
    refusing = 'later';
    await api.outage(page.monitors[0]);
    t.same(
      (await api.told()).map(({ to }) => to.join()),
      ['here@example.com'],
    );
    t.same(await api.told(), [], 'not at once');
    refusing = 'none';
    await api.pass(61);
    t.same(
      (await api.told()).map(({ to }) => to.join()),
      ['gone@example.com'],
    );
    refusing = 'user';
    await api.outage(page.monitors[1]);
    await api.told();
    const failed = sql.fragment`status_page_subscribers where page_id = ${page.id} and state = 'failed'`;
    t.equal(await api.count(failed), 1);
    t.equal(await api.count(waiting), 0);
  });

  await t.test('a second has room for twenty messages, of all pages in turn', async (t) => {
    const [large, small] = [await api.page(), await api.page()];
    await api.manySubscribed(
      large,
      Array.from({ length: 50 }, (_, index) => `l${index}@example.com`),
    );
    await api.manySubscribed(small, ['s@example.com']);
    await api.outage(large.monitors[0]);
    await api.outage(small.monitors[0]);
    await tellNews(api.context, quietLog, null);
    await worker.query(sql.unsafe`update status_page_notices set tried_at = null`);
    const claims = await Promise.all([1, 2, 3].map(() => claimNotices(worker)));
    const claimed = claims.flat();
    t.equal(claimed.length, mostPerSecond);
    t.equal(claimed.filter(({ page_id: id }) => id === small.id).length, 1);
    await worker.query(sql.unsafe`delete from status_page_notices`);
  });

  await t.test('10,000 are queued within five seconds', async (t) => {
    const page = await api.page();
    await api.manySubscribed(page, ['m@example.com']);
    await worker.query(sql.unsafe`
      insert into status_page_subscribers (workspace_id, page_id, kind, target_sealed, target_hash, locale, state, token_hash, token_sealed, active_at)
      select workspace_id, page_id, kind, target_sealed, sha256(n::text::bytea), locale, state, sha256(('t' || n)::bytea), token_sealed, active_at
      from status_page_subscribers cross join generate_series(2, 10000) as n where page_id = ${page.id}`);
    await worker.query(sql.unsafe`analyze status_page_subscribers`);
    await api.outage(page.monitors[0]);
    const began = performance.now();
    t.equal(await tellNews(api.context, quietLog, null), 10_000);
    const tookMs = performance.now() - began;
    t.ok(tookMs <= goalMs, `${Math.round(tookMs)} ms`);
    t.comment(`10,000 were queued in ${Math.round(tookMs)} ms`);
    t.equal(await tellNews(api.context, quietLog, null), 0);
    const claiming = performance.now();
    await worker.query(sql.unsafe`update status_page_notices set tried_at = null`);
    t.equal((await claimNotices(worker)).length, mostPerSecond);
    t.comment(`20 of them were claimed in ${Math.round(performance.now() - claiming)} ms`);
    await api.pass(86_500);
    await sweepSubscribers(worker, { pendingDays: 7, unsubscribedDays: 30 });
    t.equal(await api.count(waiting), 0, 'what could not be told for a day is no news');
  });
});
