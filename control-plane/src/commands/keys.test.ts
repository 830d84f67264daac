import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { openInstallation } from '../installation/index.ts';
import { keyIdOf } from '../platform/crypto/key-id.ts';
import { installed, monitorsWithSecrets, nowMs, replica } from '../testing/keys.ts';

t.test(
  'given keys: replicas go on with the old one until the command is run, and it waits for all of them',
  async (t) => {
    const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
    const given = { keyEncryptionKey: oldKey };
    const both = { keyEncryptionKey: newKey, previousKeyEncryptionKey: oldKey };
    const system = await installed(t, given);
    await monitorsWithSecrets(system, oldKey, 20);
    const environment = {
      PARALLAX_KEY_ENCRYPTION_KEY: newKey.toString('base64'),
      PARALLAX_KEY_ENCRYPTION_KEY_PREVIOUS: oldKey.toString('base64'),
    };
    const late = await replica(t, system, 'late', given);
    const early = await replica(t, system, 'early', both);
    t.equal(early.ring.sealsWith(), keyIdOf(oldKey), 'the database says which key seals');

    const alone = await system.command({ PARALLAX_KEY_ENCRYPTION_KEY: newKey.toString('base64') }).ended;
    t.match(alone, { code: 1, told: /PARALLAX_KEY_ENCRYPTION_KEY_PREVIOUS/ });
    const running = system.command(environment);
    t.match(await running.until(/waiting/), /waiting for these replicas to hold the key [0-9a-f]{16}: late\n/);
    t.equal(early.ring.sealsWith(), keyIdOf(oldKey), 'nothing has changed yet');
    await late.stop();
    const restarted = await replica(t, system, 'late', both);
    t.match(await running.ended, { code: 0 });
    t.equal(await system.others(keyIdOf(newKey)), 0);
    t.equal(restarted.ring.sealsWith(), keyIdOf(newKey));
    await Promise.all([early.stop(), restarted.stop()]);
    const again = await system.command(environment).ended;
    t.match(again, { code: 0, told: /^0 values were moved|\n0 values were moved/ }, 'safe to repeat');
    await t.rejects(
      openInstallation({ ...given, dataDir: system.dataDir, pool: system.database.worker, nowMs }),
      /not the one that this database was set up with/,
      'the old key opens nothing any more',
    );
  },
);

t.test('a backup of before needs the key of before, and one of after the new one', async (t) => {
  const system = await installed(t);
  const keyFile = path.join(system.dataDir, 'key-encryption-key');
  const oldKey = readFileSync(keyFile, 'utf8').trim();
  const [before, after] = [path.join(system.dataDir, 'before'), path.join(system.dataDir, 'after')];
  t.match(await system.command({}, ['backup', before]).ended, { code: 0 });
  t.match(await system.command().ended, { code: 0 });
  t.match(await system.command({}, ['backup', after]).ended, { code: 0 });
  const verify = (file: string, environment: Readonly<Record<string, string>> = {}) =>
    system.command(environment, ['backup', '--verify', file]).ended;
  t.match(await verify(after), { code: 0, told: /nobody altered it/ });
  t.match(await verify(before), { code: 1, told: /was made under another key-encryption key/ });
  const newKey = readFileSync(keyFile, 'utf8').trim();
  const both = { PARALLAX_KEY_ENCRYPTION_KEY: newKey, PARALLAX_KEY_ENCRYPTION_KEY_PREVIOUS: oldKey };
  for (const file of [before, after]) t.match(await verify(file, both), { code: 0, told: /nobody altered it/ });
  const audit = await system.database.raw.query("select actor, action from audit_log where action like 'key_%'");
  t.same(audit.rows, [{ actor: 'command', action: 'key_encryption_key.changed' }]);
});

t.test('two exchanges at once do not meet, and a value that no key opens stops one', async (t) => {
  const system = await installed(t);
  const holder = await system.database.raw.connect();
  await holder.query("select pg_advisory_lock(hashtext('parallax keys rotate'))");
  t.match(await system.command().ended, { code: 1, told: /another exchange of the key is running/ });
  await holder.query('select pg_advisory_unlock_all()');
  holder.release();
  const [id = 0] = await monitorsWithSecrets(system, randomBytes(32), 1);
  const stopped = await system.command().ended;
  t.match(stopped, { code: 1, told: new RegExp(`does not open`) }, `monitor ${id}`);
  const keyFile = path.join(system.dataDir, 'key-encryption-key');
  t.equal(readFileSync(keyFile, 'utf8').trim().split('\n').length, 2, 'the old key is not retired');
  await system.database.raw.query('update monitors set sealed_secrets = null where id = $1', [id]);
  t.match(await system.command().ended, { code: 0 });
  writeFileSync(keyFile, 'bm90IGEga2V5\n');
  t.match(await system.command().ended, { code: 1, told: /does not hold 32 bytes in base64/ });
});
