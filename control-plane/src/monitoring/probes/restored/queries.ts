import { certificateFacts, probeCertificateBackdatedMs } from '@parallax/pki';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { revokeProbe } from '../revoke.queries.ts';

/** How far the clocks of the old and the new machine may be apart. */
const toleranceMinutes = 10;

/**
 * Takes up a probe's certificate that was renewed between a backup and its restore, so that this database does not know it. The caller has
 * made sure that this installation's authority signed it. It must name a probe that is known and unrevoked, be for a key of which a certificate is
 * known and none was revoked, and have been made between backup and restore: without a restore nothing is ever taken up, and nobody gets in by
 * a certificate who would not have got in by the older one of the same key.
 * @returns whether it is known now
 */
export async function adoptCertificate(
  database: CommonQueryMethods,
  probeId: number,
  certificateDer: Uint8Array,
): Promise<boolean> {
  const facts = certificateFacts(certificateDer);
  const madeAt = sql.timestamp(new Date(facts.notBeforeMs + probeCertificateBackdatedMs));
  const adopted = await database.maybeOne(sql.type(z.object({ serial: z.string() }))`
    insert into probe_certificates (serial, probe_id, key_fingerprint, not_before, not_after, certificate_der)
    select ${facts.serial}, probe.id, ${facts.publicKeyFingerprint}, ${sql.timestamp(new Date(facts.notBeforeMs))},
      ${sql.timestamp(new Date(facts.notAfterMs))}, ${sql.binary(Buffer.from(certificateDer))}
    from probes probe, installation
    where probe.id = ${probeId} and probe.revoked_at is null
      and ${madeAt} between installation.restored_backup_at - ${toleranceMinutes} * interval '1 minute'
        and installation.restored_at + ${toleranceMinutes} * interval '1 minute'
      and exists (
        select from probe_certificates known
        where known.probe_id = probe.id and known.key_fingerprint = ${facts.publicKeyFingerprint} and known.revoked_at is null)
      and not exists (
        select from probe_certificates revoked
        where revoked.probe_id = probe.id and revoked.key_fingerprint = ${facts.publicKeyFingerprint} and revoked.revoked_at is not null)
    on conflict (serial) do nothing
    returning serial`);
  return adopted !== null;
}

/**
 * Up to where a probe knows the assignments of this database. One that knows a revision below the last restore may know changes that were
 * undone by it: it knows nothing that counts, and gets all.
 */
export async function knownHere(database: CommonQueryMethods, knownRevision: bigint): Promise<bigint> {
  const isOfBefore = await database.exists(sql.unsafe`
    select from installation where restored_revision > ${knownRevision}`);
  return isOfBefore ? 0n : knownRevision;
}

/**
 * Revokes a public probe of this name and region that has no session: its state folder is gone, as that of a local probe is after a restore into a new
 * data folder, and a probe that is registered anew in its place needs the name. Its seats move as those of any revoked probe.
 */
export async function revokeAbsentProbe(pool: DatabasePool, name: string, region: string): Promise<void> {
  await pool.transaction(async (tx) => {
    const absent = await tx.maybeOne(sql.typeAlias('id')`
      select id from probes probe
      where name = ${name} and region = ${region} and workspace_id is null and revoked_at is null
        and not exists (select from probe_sessions where probe_id = probe.id and closed_at is null)
      for no key update`);
    if (absent !== null) await revokeProbe({ userId: null, workspaceIds: [] }, tx, absent.id);
  });
}
