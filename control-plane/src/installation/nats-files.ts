import { X509Certificate, createPrivateKey } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { isIP } from 'node:net';
import path from 'node:path';
import { natsConfiguration } from '@parallax/embedded';
import type { Authority } from '@parallax/pki';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../platform/database/pools.ts';
import { revokedProbeKeys } from './keys.ts';
import type { OpenInstallation } from './open.ts';
import { readIfThere, writeWhole } from './whole-file.ts';

const dayMs = 86_400_000;
/** A certificate that ends sooner than this is made anew: the server may run for long before it reads the next one. */
const keepCertificateMs = 180 * dayMs;

export type NatsFilesOptions = {
  readonly installation: Pick<OpenInstallation, 'authority' | 'nats'>;
  /** A pool of the worker login. */
  readonly pool: DatabasePool;
  /** Where the nats-server finds its files, under the same path as here. */
  readonly folder: string;
  readonly listen: { readonly host: string; readonly port: number };
  /** Where it answers about its health; absent: nowhere. */
  readonly monitor?: { readonly host: string; readonly port: number } | undefined;
  /** Names and addresses that it is dialled by. */
  readonly names: readonly string[];
  readonly nowMs: number;
};

/**
 * Writes what a nats-server of its own needs, one that is not a child of the control plane: `nats-server.conf`, `certificate.pem`,
 * `key.pem` and the folder of its accounts. Readable by the present account only.
 *
 * Repeating it changes nothing: keys come from the installation, a good certificate is kept, and the JWT of the accounts bear the
 * time of what they say (the installation, or the last revocation) in place of the present. So the server, which keeps the newest
 * that it was ever given, never takes an older list of revoked probes from this file for one that it was sent since.
 * @returns the names of the files that were written
 */
export async function writeNatsFiles(options: NatsFilesOptions): Promise<readonly string[]> {
  const { installation, pool, folder, names, nowMs } = options;
  await mkdir(path.join(folder, 'accounts'), { recursive: true, mode: 0o700 });
  const written: string[] = [];
  const replace = async (name: string, content: string): Promise<void> => {
    if (await writeWhole(path.join(folder, name), content, 0o600)) written.push(name);
  };
  const tls = (await usableCertificate(folder, installation.authority, names, nowMs)) ?? {
    ...(await newCertificate(installation.authority, names, nowMs)),
  };
  await replace('key.pem', tls.keyPem);
  await replace('certificate.pem', tls.certificatePem);
  await replace(
    'nats-server.conf',
    natsConfiguration(folder, {
      ...options.listen,
      operator: await operatorOf(installation.nats, pool),
      tls,
      ...(options.monitor === undefined ? {} : { monitor: options.monitor }),
    }),
  );
  return written;
}

async function operatorOf(nats: OpenInstallation['nats'], pool: DatabasePool) {
  const { created_at: installedAtMs } = await pool.one(
    sql.type(z.object({ created_at: z.number() }))`select created_at from installation`,
  );
  const revocations = await revokedProbeKeys(pool);
  const listedAtMs = revocations.reduce((latest, { revokedAtMs }) => Math.max(latest, revokedAtMs), installedAtMs);
  return {
    operatorJwt: nats.operatorJwt(installedAtMs),
    systemAccount: nats.systemAccount,
    accounts: {
      [nats.systemAccount]: nats.systemAccountJwt(installedAtMs),
      ...nats.accountJwts(revocations, listedAtMs),
    },
  };
}

type Pair = { readonly certificatePem: string; readonly keyPem: string };

async function newCertificate(authority: Authority, names: readonly string[], nowMs: number): Promise<Pair> {
  const made = await authority.issueServerCertificate(names, nowMs);
  return { certificatePem: made.chainPem, keyPem: made.keyPem };
}

/** The pair that lies in the folder, when it may go on being used. */
async function usableCertificate(
  folder: string,
  authority: Authority,
  names: readonly string[],
  nowMs: number,
): Promise<Pair | undefined> {
  const certificatePem = await readIfThere(path.join(folder, 'certificate.pem'));
  const keyPem = await readIfThere(path.join(folder, 'key.pem'));
  if (certificatePem === undefined || keyPem === undefined) return undefined;
  try {
    const certificate = new X509Certificate(certificatePem);
    const isUsable =
      (await authority.hasIssued(certificate.raw)) &&
      certificate.checkPrivateKey(createPrivateKey(keyPem)) &&
      Date.parse(certificate.validTo) > nowMs + keepCertificateMs &&
      names.every((name) => (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined);
    return isUsable ? { certificatePem, keyPem } : undefined;
  } catch {
    return undefined;
  }
}
