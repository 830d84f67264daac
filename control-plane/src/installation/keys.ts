import { createAuthority, createNatsSeeds, createProbeSeeds, openAuthority, openNatsAuthority } from '@parallax/pki';
import type { Authority, NatsAuthority, NatsRevocation } from '@parallax/pki';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { installationKey } from '../platform/crypto/sealed-keys.ts';
import type { Sealer } from '../platform/crypto/seal.ts';
import { sql } from '../platform/database/pools.ts';

const natsSeedsSchema = z.object({
  operator: z.string(),
  system: z.string(),
  account: z.string(),
  accountSigning: z.string(),
});
const probeSeedsSchema = z.object({ probes: z.string(), probesSigning: z.string() });

/** The installation's certificate authority, made at first use. @param pool a pool of the worker login */
export async function loadAuthority(pool: DatabasePool, sealer: Sealer, nowMs: number): Promise<Authority> {
  const { secret, publicPart } = await installationKey(pool, sealer, 'authority', async () => {
    const made = await createAuthority(nowMs);
    return { secret: Buffer.from(made.keyPem), publicPart: Buffer.from(made.certificateDer).toString('base64') };
  });
  return openAuthority({
    keyPem: secret.toString('utf8'),
    certificateDer: new Uint8Array(Buffer.from(publicPart ?? '', 'base64')),
  });
}

/** The broker's chain of trust, made at first use. @param pool a pool of the worker login */
export async function loadNatsAuthority(pool: DatabasePool, sealer: Sealer): Promise<NatsAuthority> {
  const made = createNatsSeeds();
  const seedsOf = async (name: string, seeds: object): Promise<unknown> => {
    const { secret } = await installationKey(pool, sealer, name, async () => ({
      secret: Buffer.from(JSON.stringify(seeds)),
    }));
    return JSON.parse(secret.toString('utf8'));
  };
  return openNatsAuthority({
    ...natsSeedsSchema.parse(await seedsOf('nats', natsSeedsSchema.parse(made))),
    // In a key of their own: installations from before probes had an account have none, and get it here.
    ...probeSeedsSchema.parse(await seedsOf('nats probes', createProbeSeeds())),
  });
}

const revokedProbe = z.object({ signing_public_key: z.instanceof(Buffer), revoked_at: z.number() });

// Credentials live for a day and none are made after the revocation, so older ones have ended by themselves.
const revocationDays = 7;

/** Every probe whose credentials for the broker may still be good although it was revoked. */
export async function revokedProbeKeys(pool: CommonQueryMethods): Promise<NatsRevocation[]> {
  const rows = await pool.any(sql.type(revokedProbe)`
    select signing_public_key, revoked_at from probes where revoked_at > now() - ${revocationDays} * interval '1 day' order by id`);
  return rows.map((row) => ({ publicKey: row.signing_public_key, revokedAtMs: row.revoked_at }));
}
