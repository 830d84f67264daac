import { randomBytes } from 'node:crypto';
import { keptLog, lateness, quietLog } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import { createSealer } from '../crypto/seal.ts';
import { sql } from '../database/pools.ts';
import type { Database } from '../database/pools.ts';
import { testDatabase } from '../database/testing.ts';
import { workOnce } from '../outbox/worker.ts';
import { mailConsumer, sendDue, startMailSender } from './job.ts';
import { enqueueMail } from './mail.ts';
import type { Mail } from './mail.ts';
import { MailRefusedError, smtpMailer } from './mailer.ts';
import type { Mailer } from './mailer.ts';
import { smtpOptions } from './smtp-options.ts';
import { mailServer } from './testing/mail-server.ts';

const sealer = createSealer(randomBytes(32));
const secret = 'the-token-that-lets-somebody-in';
const mail: Mail = { to: 'ada@example.com', subject: 'Hello', text: `Link ${secret}`, html: `<p>${secret}</p>` };

const contextOf = (database: Database, mailer: Mailer, log = quietLog) => ({
  database,
  mailer,
  sealer,
  log,
  now: Date.now,
  bus: { listen: () => ({ stop: () => undefined }) },
});

const queued = z.object({
  attempts: z.number(),
  wait: z.number(),
  last_error: z.string().nullable(),
  sealed: z.boolean(),
  given_up: z.boolean(),
});
const readQueue = (database: Database) =>
  database.worker.any(sql.type(queued)`
    select attempts, extract(epoch from due_at - now())::float8 as wait, last_error, sealed is not null as sealed,
      given_up_at is not null as given_up from mails order by created_at`);

/** Hands a mail over as a request does. */
async function enqueueOne(database: Database, one: Mail = mail): Promise<void> {
  await database.api.transaction(async (transaction) => enqueueMail(transaction, sealer, one));
}

const everything = (database: Database) =>
  database.worker.oneFirst(sql.type(z.object({ text: z.string() }))`
    select coalesce((select jsonb_agg(to_jsonb(o)) from outbox o)::text, '') || coalesce((select jsonb_agg(to_jsonb(m)) from mails m)::text, '') as text`);

t.test('what commits is sent once and leaves nothing behind; what is taken back is never sent', async (t) => {
  const { database } = await testDatabase(t);
  const server = await mailServer(t);
  const mailer = smtpMailer(smtpOptions(`smtp://127.0.0.1:${server.port}`), { name: '', address: 'a@b.example' });
  const context = contextOf(database, mailer);
  await enqueueOne(database);
  await database.api
    .transaction(async (transaction) => {
      await enqueueMail(transaction, sealer, { ...mail, to: 'never@example.com' });
      throw new Error('taken back');
    })
    .catch(() => undefined);
  t.notMatch(await everything(database), secret, 'sealed on its way');
  t.equal(await workOnce(context, [mailConsumer]), 1);
  t.match(await readQueue(database), [{ attempts: 0, sealed: true }]);
  t.notMatch(await everything(database), secret);
  t.equal(await sendDue(context, quietLog), 1);
  t.equal(await sendDue(context, quietLog), 0);
  t.match(server.taken, [{ to: ['ada@example.com'] }]);
  t.same(await readQueue(database), []);
  t.match(await everything(database), '"payload": {}', 'the row of the outbox is emptied');
});

t.test('a mail that fails is tried again, under the same Message-ID', async (t) => {
  const { database } = await testDatabase(t);
  let refusals = 2;
  const server = await mailServer(t, {
    onMailFrom: (_address, _session, done) => {
      refusals -= 1;
      if (refusals >= 0) done(Object.assign(new Error('try later'), { responseCode: 451 }));
      else done();
    },
  });
  const { log, lines } = keptLog('info');
  const ids: string[] = [];
  const smtp = smtpMailer(smtpOptions(`smtp://127.0.0.1:${server.port}`), { name: '', address: 'a@b.example' });
  const mailer: Mailer = {
    send: (one, id) => {
      ids.push(id);
      return smtp.send(one, id);
    },
  };
  const context = contextOf(database, mailer, log);
  await enqueueOne(database);
  await workOnce(context, [mailConsumer]);
  await sendDue(context, log);
  const [first] = await readQueue(database);
  t.match(first, { attempts: 1, last_error: /try later/ });
  t.ok(first !== undefined && first.wait > 3 && first.wait <= 5, 'after five seconds');
  t.equal(await sendDue(context, log), 0, 'and not before');
  await database.worker.query(sql.unsafe`update mails set due_at = now()`);
  await sendDue(context, log);
  const [second] = await readQueue(database);
  t.ok(second !== undefined && second.wait > 25 && second.wait <= 30, 'then after thirty');
  await database.worker.query(sql.unsafe`update mails set due_at = now()`);
  await sendDue(context, log);
  t.equal(server.taken.length, 1);
  t.equal(new Set(ids).size, 1);
  t.match(JSON.stringify(lines), 'tried again in 5 s');
  t.notMatch(JSON.stringify(lines), secret);
  t.notMatch(JSON.stringify(lines), 'ada@example.com', 'the log masks the address');
});

t.test('a mail that is refused for good, or is a day old, is given up without its text', async (t) => {
  const { database } = await testDatabase(t);
  const { log, lines } = keptLog('info');
  let failure: Error = new MailRefusedError('550 no such user');
  const context = contextOf(database, { send: () => Promise.reject(failure) }, log);
  await enqueueOne(database);
  await workOnce(context, [mailConsumer]);
  await sendDue(context, log);
  t.match(await readQueue(database), [{ given_up: true, sealed: false, last_error: '550 no such user' }]);
  failure = new Error('away');
  await enqueueOne(database, { ...mail, to: 'eve@example.com' });
  await workOnce(context, [mailConsumer]);
  await database.worker.query(
    sql.unsafe`update mails set created_at = now() - interval '23 hours 59 minutes', attempts = 20 where sealed is not null`,
  );
  await sendDue(context, log);
  t.match(await readQueue(database), [{ given_up: true, last_error: 'away' }, { given_up: true }]);
  t.equal(await sendDue(context, log), 0);
  t.equal(lines.filter((line) => JSON.stringify(line).includes('given up')).length, 2);
});

t.test('of several senders each mail has one, and what a dead one held is sent by another', async (t) => {
  const { database } = await testDatabase(t);
  const sent: string[] = [];
  const context = contextOf(database, {
    send: async (one) => {
      sent.push(one.to);
    },
  });
  for (let number = 0; number < 12; number += 1) await enqueueOne(database, { ...mail, to: `a${number}@example.com` });
  await workOnce(context, [mailConsumer]);
  // Somebody claimed one and died.
  await database.worker.query(sql.unsafe`
    update mails set leased_until = now() + interval '1 minute', attempts = 1 where id = (select id from mails limit 1)`);
  await Promise.all(Array.from({ length: 6 }, () => sendDue(context, quietLog)));
  while ((await sendDue(context, quietLog)) > 0);
  t.equal(sent.length, 11);
  t.equal(new Set(sent).size, 11);
  await database.worker.query(sql.unsafe`update mails set leased_until = now() - interval '1 second'`);
  t.equal(await sendDue(context, quietLog), 1);
  t.equal(new Set(sent).size, 12);
});

t.test('the service sends by itself and ends with what is under way', async (t) => {
  const { database } = await testDatabase(t);
  const server = await mailServer(t);
  const mailer = smtpMailer(smtpOptions(`smtp://127.0.0.1:${server.port}`), { name: '', address: 'a@b.example' });
  const context = contextOf(database, mailer);
  await enqueueOne(database);
  await workOnce(context, [mailConsumer]);
  const sender = await startMailSender(context, quietLog);
  await server.arrived(1);
  await sender.stop();
  t.same(await readQueue(database), []);
});

t.test('a stop does not wait for a server that says nothing; the mail is sent by the next process', async (t) => {
  const { database } = await testDatabase(t);
  let hasBegun: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (hasBegun = resolve));
  const server = await mailServer(t, { onMailFrom: () => hasBegun() });
  const mailer = smtpMailer(smtpOptions(`smtp://127.0.0.1:${server.port}`), { name: '', address: 'a@b.example' });
  const context = contextOf(database, mailer);
  await enqueueOne(database);
  await workOnce(context, [mailConsumer]);
  const sender = await startMailSender(context, quietLog);
  await begun;
  const { late } = await lateness(6_000, () => sender.stop());
  t.ok(late < 0, 'seconds');
  t.match(await readQueue(database), [{ attempts: 1, sealed: true, given_up: false, last_error: /stops|abort/i }]);
});

t.test('a hostile address is refused where it is handed over', async (t) => {
  const { database } = await testDatabase(t);
  await t.rejects(enqueueOne(database, { ...mail, to: 'a@b.example\r\nBcc: eve@b.example' }), {
    name: 'MailAddressError',
  });
});
