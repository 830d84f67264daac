import { z } from 'zod';
import type { Sealer } from '../../platform/crypto/seal.ts';
import type { BrowserKeys } from './browser-keys.ts';

const sealedSchema = z.object({ endpoint: z.string(), p256dh: z.string(), auth: z.string() });

/** What whoever has it may send to a browser with. */
export type PushAddress = { readonly endpoint: string; readonly keys: BrowserKeys };

const contextOf = (id: number) => `push subscription ${id}`;

/** Endpoint and keys, bound to their row. */
export function sealAddress(sealer: Sealer, id: number, { endpoint, keys }: PushAddress): Buffer {
  return sealer.seal(JSON.stringify({ endpoint, ...keys } satisfies z.input<typeof sealedSchema>), contextOf(id));
}

/** Undoes `sealAddress`. @throws SealError */
export function openAddress(sealer: Sealer, id: number, sealed: Uint8Array): PushAddress {
  const { endpoint, ...keys } = sealedSchema.parse(JSON.parse(sealer.open(sealed, contextOf(id)).toString('utf8')));
  return { endpoint, keys };
}
