import { randomBytes } from 'node:crypto';
import {
  certificateFacts,
  createAuthority,
  createSigningRequest,
  openAuthority,
  probeCertificateBackdatedMs,
} from '@parallax/pki';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { issueCertificate } from '../enrolment/queries.ts';
import { adoptCertificate, knownHere, revokeAbsentProbe } from './queries.ts';

const hourMs = 3_600_000;
const backupMs = Date.UTC(2026, 10, 1);
const restoredMs = backupMs + 48 * hourMs;

const { database } = await testDatabase(t);
const authority = await openAuthority(await createAuthority(backupMs - 24 * hourMs));
await database.worker.query(
  sql.unsafe`insert into installation (shards, key_check) values (1, ${sql.binary(randomBytes(8))})`,
);

async function restored(): Promise<void> {
  await database.worker.query(sql.unsafe`
    update installation set restored_at = ${sql.timestamp(new Date(restoredMs))},
      restored_backup_at = ${sql.timestamp(new Date(backupMs))}, restored_revision = ${restoredMs}`);
}

async function notRestored(): Promise<void> {
  await database.worker.query(sql.unsafe`
    update installation set restored_at = null, restored_backup_at = null, restored_revision = 0`);
}

let made = 0;
/** A probe with a first certificate from before the backup, and one that was renewed after it, which is not stored. */
async function aProbe(renewedMs = backupMs + hourMs) {
  made += 1;
  const { id } = await database.worker.one(sql.typeAlias('id')`
    insert into probes (name, region, signing_public_key) values (${`probe-${made}`}, 'eu', ${sql.binary(randomBytes(32))}) returning id`);
  const { keyPem, csrDer } = await createSigningRequest();
  await database.worker.transaction((tx) => issueCertificate(tx, authority, id, csrDer, backupMs - hourMs));
  const renewal = await createSigningRequest(keyPem);
  const { certificateDer } = await authority.issueProbeCertificate(id, renewal.csrDer, renewedMs);
  return { id, certificateDer };
}

t.test(
  'after a restore a certificate of the time that was cut off is taken up, for the key that is known',
  async (t) => {
    await restored();
    const probe = await aProbe();
    t.equal(await adoptCertificate(database.worker, probe.id, probe.certificateDer), true);
    const facts = certificateFacts(probe.certificateDer);
    const row = await database.worker.one(sql.type(
      z.object({ probe_id: z.number(), key_fingerprint: z.string(), not_before: z.number(), not_after: z.number() }),
    )`
    select probe_id, key_fingerprint, not_before, not_after from probe_certificates where serial = ${facts.serial}`);
    t.same(row, {
      probe_id: probe.id,
      key_fingerprint: facts.publicKeyFingerprint,
      not_before: facts.notBeforeMs,
      not_after: facts.notAfterMs,
    });
    t.equal(facts.notBeforeMs, backupMs + hourMs - probeCertificateBackdatedMs);
  },
);

t.test('without a restore, and for one from before the backup or after the restore, nothing is taken up', async (t) => {
  await notRestored();
  const probe = await aProbe();
  t.equal(await adoptCertificate(database.worker, probe.id, probe.certificateDer), false);
  await restored();
  for (const atMs of [backupMs - hourMs, restoredMs + hourMs]) {
    const other = await aProbe(atMs);
    t.equal(
      await adoptCertificate(database.worker, other.id, other.certificateDer),
      false,
      new Date(atMs).toISOString(),
    );
  }
});

t.test('another key, an unknown or revoked probe and a revoked certificate of the key are refused', async (t) => {
  await restored();
  const probe = await aProbe();
  const stranger = await createSigningRequest();
  const { certificateDer } = await authority.issueProbeCertificate(probe.id, stranger.csrDer, backupMs + hourMs);
  t.equal(await adoptCertificate(database.worker, probe.id, certificateDer), false, 'another key');
  t.equal(await adoptCertificate(database.worker, 1_000_000, probe.certificateDer), false, 'an unknown probe');
  const other = await aProbe();
  t.equal(await adoptCertificate(database.worker, other.id, probe.certificateDer), false, 'the key of another probe');
  await database.worker.query(
    sql.unsafe`update probe_certificates set revoked_at = now() where probe_id = ${probe.id}`,
  );
  t.equal(await adoptCertificate(database.worker, probe.id, probe.certificateDer), false, 'a revoked certificate');
  await database.worker.query(sql.unsafe`update probes set revoked_at = now() where id = ${other.id}`);
  t.equal(await adoptCertificate(database.worker, other.id, other.certificateDer), false, 'a revoked probe');
});

t.test('a probe that knows a revision of before the restore knows nothing that counts', async (t) => {
  await restored();
  t.equal(await knownHere(database.worker, 17n), 0n);
  t.equal(await knownHere(database.worker, BigInt(restoredMs)), BigInt(restoredMs));
  await notRestored();
  t.equal(await knownHere(database.worker, 17n), 17n);
});

t.test(
  'a probe whose state folder is gone gives way to one of its name and region, unless it has a session',
  async (t) => {
    const isRevoked = async (id: number) =>
      database.worker.exists(sql.unsafe`select from probes where id = ${id} and revoked_at is not null`);
    const probe = await aProbe();
    await revokeAbsentProbe(database.worker, `probe-${made}`, 'us');
    t.equal(await isRevoked(probe.id), false, 'another region');
    await database.worker.query(sql.unsafe`
    insert into probe_sessions (probe_id, boot_id, replica) values (${probe.id}, 'boot', 'here')`);
    await revokeAbsentProbe(database.worker, `probe-${made}`, 'eu');
    t.equal(await isRevoked(probe.id), false, 'with a session');
    await database.worker.query(sql.unsafe`update probe_sessions set closed_at = now()`);
    await revokeAbsentProbe(database.worker, `probe-${made}`, 'eu');
    t.equal(await isRevoked(probe.id), true);
  },
);
