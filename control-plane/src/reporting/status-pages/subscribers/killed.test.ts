import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import t from 'tap';
import { createSealer } from '../../../platform/crypto/seal.ts';
import { sql } from '../../../platform/database/pools.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { subscribersApi } from './testing.ts';

/** Mails that the server takes until the sender is killed, time and again: others are under way then. */
const killedAfter = [3, 8];
const readers = 30;

void t.test('each is told once, also when the sender is killed in between', async (t) => {
  const { urls, database } = await testDatabase(t);
  const key = randomBytes(32);
  let room = 0;
  const full = { reached: () => undefined as void };
  const api = await subscribersApi(t, { sealer: createSealer(key) }, database, {
    // Whoever comes when there is no room waits for an answer that never comes.
    onRcptTo: (_address, _session, callback) => {
      room -= 1;
      if (room >= 0) return callback();
      full.reached();
    },
  });
  const page = await api.page();
  const addresses = Array.from({ length: readers }, (_, index) => `r${index}@example.com`);
  await api.manySubscribed(page, addresses);
  await api.outage(page.monitors[0]);
  const fixture = path.join(import.meta.dirname, 'killed.fixture.ts');
  for (const count of killedAfter) {
    room = count;
    const isFull = new Promise<void>((resolve) => {
      full.reached = resolve;
    });
    const child = spawn(
      process.execPath,
      [fixture, JSON.stringify(urls), key.toString('base64'), String(api.mails.port)],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    const ended = once(child, 'exit');
    await Promise.race([isFull, ended]);
    child.kill('SIGKILL');
    await ended;
    // The connections of the dead one end a moment later, and their transactions with them.
    await database.worker.query(sql.unsafe`select pg_sleep(0.1)`);
  }
  room = Infinity;
  const leased = sql.fragment`status_page_notices where leased_until > clock_timestamp()`;
  t.ok((await api.count(leased)) > 0, 'it was killed in the middle');
  await api.told();
  await database.worker.query(sql.unsafe`update status_page_notices set leased_until = null`);
  await api.told();
  t.equal(await api.count(sql.fragment`status_page_notices where told_id < wanted_id`), 0);
  const ids = new Set(api.mails.taken.map(({ parsed }) => parsed.messageId));
  t.equal(ids.size, readers, 'a mail that was under way is the same mail, by its Message-ID');
  t.same(new Set(api.mails.taken.map(({ to }) => to.join())), new Set(addresses), 'nobody is left out');
});
