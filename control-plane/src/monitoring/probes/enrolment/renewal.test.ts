import {
  certificateFacts,
  createAuthority,
  createEd25519Pair,
  createSigningRequest,
  openAuthority,
} from '@parallax/pki';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { revokeProbe } from '../revoke.queries.ts';
import { isKnownCertificate, issueCertificate, renewCertificate } from './queries.ts';
import { certificatesPerDay } from './renewal-rules.ts';

const { database } = await testDatabase(t);
const pool = database.worker;
const authority = await openAuthority(await createAuthority(Date.now()));
const dayMs = 86_400_000;

/** A probe with a certificate that was made some days ago. */
async function aProbe(name: string, daysAgo = 0) {
  const { csrDer } = await createSigningRequest();
  const { id: probeId } = await pool.one(sql.typeAlias('id')`
    insert into probes (workspace_id, name, region, signing_public_key, agent_version, public_addresses)
    values (null, ${name}, 'eu', ${sql.binary(Buffer.from(createEd25519Pair().publicKey))}, '1', '{}') returning id`);
  await pool.transaction((tx) => issueCertificate(tx, authority, probeId, csrDer, Date.now() - daysAgo * dayMs));
  await pool.query(sql.unsafe`
    update probe_certificates set issued_at = not_before + interval '1 day' where probe_id = ${probeId}`);
  return { probeId, csrDer };
}

const rowsOf = async (probeId: number): Promise<number> =>
  (
    await pool.one(sql.type(z.object({ count: z.number() }))`
      select count(*)::int as count from probe_certificates where probe_id = ${probeId}`)
  ).count;

t.test(
  'renewed daily for a hundred days, a probe keeps only the certificates that could still be renewed',
  async (t) => {
    const { probeId, csrDer } = await aProbe('daily', 100);
    for (let day = 99; day >= 1; day -= 9) {
      await pool.transaction((tx) => issueCertificate(tx, authority, probeId, csrDer, Date.now() - day * dayMs));
    }
    await pool.query(sql.unsafe`
    update probe_certificates set issued_at = not_before + interval '1 day' where probe_id = ${probeId}`);
    t.equal(await rowsOf(probeId), 12);
    t.ok(await renewCertificate(pool, authority, probeId, csrDer, Date.now()));
    // Made up to 60 days ago, so that they ran out no more than 30 days ago: 54, 45, 36, 27, 18, 9 and the new one.
    t.equal(await rowsOf(probeId), 7);
  },
);

t.test(
  'a probe that asks again and again gets so many certificates in a day, and others are not held back',
  async (t) => {
    const { probeId, csrDer } = await aProbe('greedy', 2);
    const other = await aProbe('other', 2);
    const answers = await Promise.all(
      Array.from({ length: certificatesPerDay + 6 }, () =>
        renewCertificate(pool, authority, probeId, csrDer, Date.now()),
      ),
    );
    t.equal(answers.filter((answer) => answer !== undefined).length, certificatesPerDay);
    t.equal(await rowsOf(probeId), certificatesPerDay + 1);
    t.ok(await renewCertificate(pool, authority, other.probeId, other.csrDer, Date.now()));
  },
);

t.test('revoking a probe covers all its certificates, and it gets no other', async (t) => {
  const { probeId, csrDer } = await aProbe('revoked', 3);
  const held = await renewCertificate(pool, authority, probeId, csrDer, Date.now());
  const { serial, publicKeyFingerprint } = certificateFacts(held ?? Buffer.alloc(0));
  t.ok(await isKnownCertificate(pool, probeId, serial, publicKeyFingerprint));
  await pool.transaction((tx) => revokeProbe({ userId: null, workspaceIds: [] }, tx, probeId));
  t.notOk(await isKnownCertificate(pool, probeId, serial, publicKeyFingerprint));
  t.equal(await renewCertificate(pool, authority, probeId, csrDer, Date.now()), undefined, 'nor behind its back');
  const { valid } = await pool.one(sql.type(z.object({ valid: z.number() }))`
    select count(*)::int as valid from probe_certificates where probe_id = ${probeId} and revoked_at is null`);
  t.equal(valid, 0);
});
