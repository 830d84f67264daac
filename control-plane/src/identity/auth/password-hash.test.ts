import t from 'tap';
import { createPasswordHasher } from './password-hash.ts';

t.test('a password is hashed as OWASP recommends, and known again; another one and no hash are not', async (t) => {
  const hasher = createPasswordHasher();
  const hash = await hasher.hash('correct horse battery');
  t.match(hash, /^\$argon2id\$v=19\$m=19456,p=1,t=2\$/);
  t.equal(await hasher.verify(hash, 'correct horse battery'), true);
  t.equal(await hasher.verify(hash, 'correct horse batteri'), false);
  t.equal(await hasher.verify(null, 'correct horse battery'), false);
});

t.test('a hash that was made at another cost is still known', async (t) => {
  const hash = await createPasswordHasher({ memoryKib: 1_024 }).hash('correct horse battery');
  t.match(hash, /^\$argon2id\$v=19\$m=1024,p=1,t=2\$/);
  t.equal(await createPasswordHasher().verify(hash, 'correct horse battery'), true);
});

t.test('without an account the same work is done: the decoy is made at the same cost', async (t) => {
  const spent = async (hash: string | null): Promise<number> => {
    const before = process.cpuUsage();
    for (let nth = 0; nth < 5; nth += 1) await hasher.verify(hash, 'not this one');
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const hasher = createPasswordHasher();
  const hash = await hasher.hash('correct horse battery');
  await hasher.verify(null, 'the decoy is made here');
  const ratio = (await spent(null)) / (await spent(hash));
  t.ok(ratio > 0.5 && ratio < 2, `ratio ${ratio.toFixed(2)}`);
});
