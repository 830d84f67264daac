import t from 'tap';
import { z } from 'zod';
import { createSealer } from '../../../platform/crypto/seal.ts';
import { sql } from '../../../platform/database/pools.ts';
import { openMail } from '../../../platform/mail/mail.ts';
import { storeEvents, webhooksApi } from '../testing.ts';
import { mailDue } from './failing.ts';
import { tellFailing } from './failing.gateway.ts';
import { missQueued, sweepOnce } from './queries.ts';

const hourMs = 3_600_000;

void t.test('mails are due after 24, 96 and 120 hours of failures that are many and span half a day', async (t) => {
  const failures = { sinceMs: 0, lastMs: 13 * hourMs, count: 10, mailsSent: 0 };
  t.equal(mailDue(failures, 24 * hourMs - 1), undefined);
  t.same(mailDue(failures, 24 * hourMs), { mails: 1, hours: 24, isOff: false });
  t.equal(mailDue({ ...failures, mailsSent: 1 }, 95 * hourMs), undefined, 'once');
  t.same(mailDue({ ...failures, mailsSent: 1 }, 96 * hourMs), { mails: 2, hours: 96, isOff: false });
  t.same(mailDue(failures, 200 * hourMs), { mails: 3, hours: 120, isOff: true }, 'the last alone after a long stop');
  t.equal(mailDue({ ...failures, count: 9 }, 200 * hourMs), undefined);
  t.equal(mailDue({ ...failures, lastMs: 11 * hourMs }, 200 * hourMs), undefined);
});

void t.test('a webhook that fails for five days is switched off with mails before, and catches up', async (t) => {
  const sealer = createSealer(Buffer.alloc(32, 7));
  const api = await webhooksApi(t, { sealer });
  const pool = api.database.worker;
  await pool.query(sql.unsafe`update users set email_verified = true`);
  const { id } = await api.webhook({ url: 'https://hooks.example/in/key' });
  await storeEvents(pool, api.workspaceId, [{}]);
  const since = Date.now();
  await pool.query(sql.unsafe`
    update webhooks set failing_since = ${sql.timestamp(new Date(since))}, failures = 12,
      last_failure_at = ${sql.timestamp(new Date(since + 20 * hourMs))}`);
  const parts = { pool, sealer, publicUrl: 'https://parallax.example' };
  const subjects: string[] = [];
  for (const hours of [23, 25, 26, 97, 121, 122]) {
    await tellFailing(parts, since + hours * hourMs);
    const mails = await pool.anyFirst(sql.type(z.object({ payload: z.object({ sealed: z.string() }) }))`
      delete from outbox where kind = 'mail.send' returning payload`);
    subjects.push(...mails.map((payload) => openMail(sealer, payload).subject));
  }
  t.same(subjects, [
    'Webhook hook has failed for 24 hours',
    'Webhook hook has failed for 96 hours',
    'Webhook hook is switched off',
  ]);
  await missQueued(pool);
  await storeEvents(pool, api.workspaceId, [{}]);
  t.match((await api.webhooks('GET', `/${id}`)).body, {
    is_active: false,
    disabled_reason: 'failing',
    queued: 0,
    missed: 2,
  });
  t.match((await api.webhooks('PATCH', `/${id}`, { is_active: true })).body, {
    disabled_reason: null,
    failing_since: null,
  });
  const caught = await api.webhooks('POST', `/${id}/redeliver`, { since: '2020-01-01T00:00:00Z', only: 'missed' });
  t.match(caught.body, { queued: 2 });
  await api.webhooks('DELETE', `/${id}`);
  while ((await sweepOnce(pool, Date.now())) > 0);
  t.notOk(await pool.exists(sql.unsafe`select from webhooks`), 'its history is gone');
});
