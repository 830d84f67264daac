import { z } from 'zod';
import type { Sealer } from '../../platform/crypto/seal.ts';

const keys = z.object({ secret: z.string(), key: z.string() });
const sealedShape = z.object({
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  ...keys.shape,
  previous: keys.nullable(),
});

/** What of a webhook is sealed: where it sends, with which credentials, and the keys that sign. */
export type WebhookSecrets = z.output<typeof sealedShape>;

const contextOf = (id: number): string => `webhook ${id}`;

export const sealSecrets = (sealer: Sealer, id: number, secrets: WebhookSecrets): Buffer =>
  sealer.seal(JSON.stringify(secrets), contextOf(id));

export const openSecrets = (sealer: Sealer, id: number, sealed: Uint8Array): WebhookSecrets =>
  sealedShape.parse(JSON.parse(sealer.open(sealed, contextOf(id)).toString('utf8')));
