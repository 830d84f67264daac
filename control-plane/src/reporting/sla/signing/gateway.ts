import { createEd25519Pair, ed25519PublicKey, signEd25519 } from '@parallax/pki';
import type { Context } from '../../../context.ts';
import { installationKey } from '../../../platform/crypto/sealed-keys.ts';
import { keyName } from '../seal.ts';
import type { Sign } from '../seal.ts';

/** The key of the installation that signs exported reports. */
export type ReportKey = { readonly name: string; readonly publicKey: Uint8Array; readonly sign: Sign };

/** Reads the key, making it at first use. */
export async function reportKey(context: Pick<Context, 'database' | 'sealer'>): Promise<ReportKey> {
  const { secret } = await installationKey(context.database.worker, context.sealer, 'sla reports', async () => {
    const { seed, publicKey } = createEd25519Pair();
    return { secret: seed, publicPart: Buffer.from(publicKey).toString('base64') };
  });
  const publicKey = ed25519PublicKey(secret);
  return { name: keyName(publicKey), publicKey, sign: (content) => signEd25519(secret, content) };
}
