import { z } from 'zod';
import { lazily } from '../lazily.ts';

/** Certificates of one chain; OpenSSL takes 100 KiB in all. */
export const maxChainCertificates = 12;
/** JSON of a whole answer. */
export const maxChainBytes = 256 * 1024;

/** What one handshake gave: the chain, or the code of why there is none. */
export type SentChain =
  | {
      /** DER in Base64, in the order of the server. */
      readonly certificates: readonly string[];
      /** OpenSSL's name of what is wrong with the chain; null when it leads to a trusted authority. */
      readonly trust_error: string | null;
      readonly tls_version: string | null;
      readonly cipher: string | null;
    }
  /** An error code of the checks, or `no_tls`. */
  | { readonly code: string };

const word = z.string().regex(/^[\w.() -]{1,100}$/);
const schema = lazily(() =>
  z.union([
    z.object({
      certificates: z.array(z.base64().max(140_000)).max(maxChainCertificates),
      trust_error: word.nullable(),
      tls_version: word.nullable(),
      cipher: word.nullable(),
    }),
    z.object({ code: z.string().regex(/^[a-z0-9_]{1,64}$/) }),
  ]),
);

/** Reads what a probe gave as a chain; undefined for what is none. Nothing but the certificates and short words is taken over. */
export function readSentChain(value: unknown): SentChain | undefined {
  const parsed = schema().safeParse(value);
  return parsed.success ? parsed.data : undefined;
}
