import type { Authority } from '@parallax/pki';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { UniqueIntegrityConstraintViolationError } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { judgeJoinToken } from '../join-token.ts';
import type { JoinTokenParts, JoinTokenVerdict } from '../join-token.ts';
import { certificatesPerDay, renewalGraceMs } from './renewal-rules.ts';

/** A request to enrol after everything that can be said of it without the database. */
export type EnrolmentClaim = {
  readonly token: JoinTokenParts;
  readonly csrDer: Uint8Array;
  /** SHA-256 of the request's public key. */
  readonly key: Buffer;
  readonly signingPublicKey: Buffer;
  readonly agentVersion: string;
  readonly publicAddresses: readonly string[];
};

export type EnrolledProbe = {
  readonly probeId: number;
  readonly name: string;
  readonly region: string;
  readonly certificateDer: Buffer;
};

export type EnrolmentResult =
  | { readonly kind: 'enrolled' | 'repeated'; readonly probe: EnrolledProbe }
  | { readonly kind: 'refused'; readonly verdict: Exclude<JoinTokenVerdict, 'fresh' | 'repeated'> | 'name_taken' };

const tokenRow = z.object({
  workspace_id: z.number().nullable(),
  secret_hash: z.instanceof(Buffer),
  name: z.string(),
  region: z.string(),
  expires_at: z.number(),
  used_at: z.number().nullable(),
  used_by_key: z.instanceof(Buffer).nullable(),
  probe_id: z.number().nullable(),
  now: z.number(),
});

/**
 * Claims the token by one conditional update and makes the probe with its first certificate, or gives the same answer again
 * to the same key. A refusal leaves the token as it was.
 */
export async function enrolProbe(
  pool: DatabasePool,
  authority: Authority,
  claim: EnrolmentClaim,
): Promise<EnrolmentResult> {
  // Twice: of two requests at the same time one claims the token, and the other sees it used only afterwards.
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const stored = await pool.maybeOne(sql.type(tokenRow)`
      select workspace_id, secret_hash, name, region, expires_at, used_at, used_by_key, probe_id, now() as now
      from join_tokens where id = ${claim.token.id}`);
    const verdict = judgeJoinToken(
      stored === null
        ? undefined
        : {
            secretHash: stored.secret_hash,
            expiresAtMs: stored.expires_at,
            usedAtMs: stored.used_at,
            usedByKey: stored.used_by_key,
          },
      claim.token.secret,
      claim.key,
      stored?.now ?? 0,
    );
    if (stored === null || (verdict !== 'fresh' && verdict !== 'repeated')) {
      return { kind: 'refused', verdict: verdict === 'fresh' || verdict === 'repeated' ? 'unknown' : verdict };
    }
    if (verdict === 'repeated') return repeatedAnswer(pool, stored.probe_id, claim);
    const probe = await claimToken(pool, authority, claim, stored);
    if (probe === 'name_taken') return { kind: 'refused', verdict: 'name_taken' };
    if (probe !== undefined) return { kind: 'enrolled', probe };
  }
  return { kind: 'refused', verdict: 'used' };
}

/** @returns undefined when another request was faster */
async function claimToken(
  pool: DatabasePool,
  authority: Authority,
  claim: EnrolmentClaim,
  token: z.infer<typeof tokenRow>,
): Promise<EnrolledProbe | 'name_taken' | undefined> {
  try {
    return await pool.transaction(async (tx) => {
      const claimed = await tx.maybeOne(sql.typeAlias('id')`
        update join_tokens set used_at = now(), used_by_key = ${sql.binary(claim.key)}
        where id = ${claim.token.id} and used_at is null and expires_at > now() returning id`);
      if (claimed === null) return undefined;
      const { id: probeId } = await tx.one(sql.typeAlias('id')`
        insert into probes (workspace_id, name, region, signing_public_key, agent_version, public_addresses)
        values (${token.workspace_id}, ${token.name}, ${token.region}, ${sql.binary(claim.signingPublicKey)},
          ${claim.agentVersion}, ${sql.array([...claim.publicAddresses], 'text')})
        returning id`);
      await tx.query(sql.unsafe`update join_tokens set probe_id = ${probeId} where id = ${claim.token.id}`);
      const certificateDer = await issueCertificate(tx, authority, probeId, claim.csrDer, token.now);
      return { probeId, name: token.name, region: token.region, certificateDer };
    });
  } catch (error) {
    if (error instanceof UniqueIntegrityConstraintViolationError && error.constraint === 'probes_name')
      return 'name_taken';
    throw error;
  }
}

const repeatedRow = z.object({
  id: z.number(),
  name: z.string(),
  region: z.string(),
  certificate_der: z.instanceof(Buffer),
});

async function repeatedAnswer(
  pool: CommonQueryMethods,
  probeId: number | null,
  claim: EnrolmentClaim,
): Promise<EnrolmentResult> {
  const row = await pool.maybeOne(sql.type(repeatedRow)`
    select probe.id, probe.name, probe.region, certificate.certificate_der
    from probes probe join probe_certificates certificate on certificate.probe_id = probe.id
    where probe.id = ${probeId} and probe.revoked_at is null and certificate.revoked_at is null
      and probe.signing_public_key = ${sql.binary(claim.signingPublicKey)}
      and certificate.key_fingerprint = ${claim.key.toString('hex')}
    order by certificate.issued_at limit 1`);
  if (row === null) return { kind: 'refused', verdict: 'used' };
  const { id, name, region, certificate_der: certificateDer } = row;
  return { kind: 'repeated', probe: { probeId: id, name, region, certificateDer } };
}

/** Signs and stores a certificate; a probe may hold several that are valid. */
export async function issueCertificate(
  tx: Transaction,
  authority: Authority,
  probeId: number,
  csrDer: Uint8Array,
  nowMs: number,
): Promise<Buffer> {
  const { certificateDer, facts } = await authority.issueProbeCertificate(probeId, csrDer, nowMs);
  const der = Buffer.from(certificateDer);
  await tx.query(sql.unsafe`
    insert into probe_certificates (serial, probe_id, key_fingerprint, not_before, not_after, certificate_der)
    values (${facts.serial}, ${probeId}, ${facts.publicKeyFingerprint},
      ${sql.timestamp(new Date(facts.notBeforeMs))}, ${sql.timestamp(new Date(facts.notAfterMs))}, ${sql.binary(der)})`);
  return der;
}

/** True when the certificate is one of the probe's and neither is revoked; its dates are not looked at. */
export async function isKnownCertificate(
  pool: CommonQueryMethods,
  probeId: number,
  serial: string,
  keyFingerprint: string,
): Promise<boolean> {
  return pool.exists(sql.unsafe`
    select 1 from probe_certificates certificate join probes probe on probe.id = certificate.probe_id
    where certificate.serial = ${serial} and certificate.probe_id = ${probeId}
      and certificate.key_fingerprint = ${keyFingerprint}
      and certificate.revoked_at is null and probe.revoked_at is null`);
}

/**
 * A new certificate for a known probe. Those that ran out too long ago to be renewed go, so the rows of a probe stay below what it may
 * be given in that time. @returns undefined when the probe has had too many certificates in the last day, or was revoked meanwhile
 */
export async function renewCertificate(
  pool: DatabasePool,
  authority: Authority,
  probeId: number,
  csrDer: Uint8Array,
  nowMs: number,
): Promise<Buffer | undefined> {
  return pool.transaction(async (tx) => {
    // Locked, so that of many requests at once none goes past the limit and none slips in behind a revocation.
    const allowed = await tx.maybeOne(sql.typeAlias('id')`
      select id from probes where id = ${probeId} and revoked_at is null for no key update`);
    if (allowed === null) return undefined;
    const { recent } = await tx.one(sql.type(z.object({ recent: z.number() }))`
      select count(*)::int as recent from probe_certificates
      where probe_id = ${probeId} and issued_at > now() - interval '1 day'`);
    if (recent >= certificatesPerDay) return undefined;
    await tx.query(sql.unsafe`
      delete from probe_certificates
      where probe_id = ${probeId} and not_after < now() - ${renewalGraceMs / 1_000} * interval '1 second'`);
    return issueCertificate(tx, authority, probeId, csrDer, nowMs);
  });
}
