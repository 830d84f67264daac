import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openInstallation } from '../installation/index.ts';
import { defaultWorkspace } from '../monitoring/testing.ts';
import { keyIdOf } from '../platform/crypto/key-id.ts';
import { enqueueMail, openMail } from '../platform/mail/mail.ts';
import { contextOf, installed, monitorsWithSecrets, nowMs, replica, secretOf } from '../testing/keys.ts';

t.test('a key in the data folder is exchanged while two replicas work, and after a kill it goes on', async (t) => {
  const system = await installed(t);
  const keyFile = path.join(system.dataDir, 'key-encryption-key');
  const oldKey = Buffer.from(readFileSync(keyFile, 'utf8'), 'base64');
  const ids = await monitorsWithSecrets(system, oldKey, 6_000);
  const [one, two] = [await replica(t, system, 'one'), await replica(t, system, 'two')];
  const before = await system.database.raw.query(
    'select id, version, updated_at, changed_xid::text from monitors order by id',
  );
  await system.database.worker.transaction((transaction) =>
    enqueueMail(transaction, one.ring, { to: 'ada@example.com', subject: 's', text: 'a link', html: 'a link' }),
  );

  // Both write and read all the time; nothing may fail.
  const account = await one.api.account('ada@example.com');
  const workspaceId = await defaultWorkspace(one.api, account.accessToken);
  const [working, faults] = [new AbortController(), [] as unknown[]];
  const work = [one, two].map(async ({ api, ring }, index) => {
    for (let round = 0; !working.signal.aborted; round += 1) {
      const body = {
        workspace_id: workspaceId,
        name: `${index} ${round}`,
        url: 'https://example.com',
        settings: { username: 'u', password: `round ${round}` },
      };
      const made = await api.call('POST', '/api/v1/monitors', { token: account.accessToken, body });
      if (made.status !== 201) faults.push(made.body);
      const sample = ids[(round * 37) % ids.length] ?? 0;
      const { rows } = await system.database.raw.query('select sealed_secrets from monitors where id = $1', [sample]);
      if (ring.open(rows[0].sealed_secrets, contextOf(sample)).toString() !== secretOf(sample)) faults.push(sample);
    }
  });
  void Promise.all(work).catch((error: unknown) => faults.push(error));

  const first = system.command();
  await first.until(/monitors: /);
  first.child.kill('SIGKILL');
  await first.ended;
  const keys = readFileSync(keyFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => Buffer.from(line, 'base64'));
  t.equal(keys.length, 2, 'both keys are in the file');
  const target = keyIdOf(keys[0] ?? oldKey);
  const left = await system.others(target);
  t.ok(left > 0 && left < 6_000, `${left} values are left after the kill`);

  const second = await system.command().ended;
  t.match(second, { code: 0, told: /everything stands under the key/ });
  working.abort();
  await Promise.all(work);
  t.same(faults, []);
  t.equal(await system.others(target), 0, 'no value is left under the old key');
  t.equal(one.ring.sealsWith(), target);
  t.equal(two.ring.sealsWith(), target);
  await Promise.all([one.stop(), two.stop()]);

  // Whoever has the new key alone reads everything.
  t.equal(readFileSync(keyFile, 'utf8').trim().split('\n').length, 1);
  t.equal(statSync(keyFile).mode & 0o777, 0o600);
  t.ok(
    readdirSync(system.dataDir).includes(`key-encryption-key.${keyIdOf(oldKey)}`),
    'the old one is kept for backups',
  );
  const { sealer } = await openInstallation({ dataDir: system.dataDir, pool: system.database.worker, nowMs });
  t.same(sealer.holds(), [target]);
  const { rows } = await system.database.raw.query('select id, sealed_secrets from monitors where id = any ($1)', [
    ids,
  ]);
  for (const row of rows) {
    if (sealer.open(row.sealed_secrets, contextOf(row.id)).toString() !== secretOf(row.id)) t.fail(`monitor ${row.id}`);
  }
  const mail = await system.database.raw.query("select payload from outbox where kind = 'mail.send'");
  t.match(openMail(sealer, mail.rows[0].payload), { to: 'ada@example.com', text: 'a link' });
  const after = await system.database.raw.query(
    'select id, version, updated_at, changed_xid::text from monitors where id = any ($1) order by id',
    [ids],
  );
  t.same(after.rows, before.rows, 'for everybody else nothing has changed');
});
