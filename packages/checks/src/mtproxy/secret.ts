/** How a client of MTProxy disguises itself, by what its secret begins with. */
export type MtproxySecret = {
  /** The 16 bytes; empty for a proxy without a secret. */
  readonly key: Buffer;
  /** `plain`: obfuscated only; `padded`: with packets of random length (`dd`); `tls`: inside what looks like TLS 1.3 (`ee`). */
  readonly disguise: 'plain' | 'padded' | 'tls';
  /** The host name that the disguise asks for; `tls` only. */
  readonly domain: string;
};

const keyBytes = 16;

/**
 * Reads a secret as links to proxies carry it, in hexadecimal digits or base64 (either alphabet): 16 bytes; `dd` and 16 bytes; `ee`, 16
 * bytes and a host name. Undefined for anything else.
 */
export function readSecret(text: string): MtproxySecret | undefined {
  const bytes = bytesOf(text.trim());
  if (bytes === undefined) return undefined;
  if (bytes.length === keyBytes) return { key: bytes, disguise: 'plain', domain: '' };
  const key = bytes.subarray(1, 1 + keyBytes);
  if (bytes[0] === 0xdd && bytes.length === 1 + keyBytes) return { key, disguise: 'padded', domain: '' };
  const domain = bytes.subarray(1 + keyBytes).toString('latin1');
  if (bytes[0] !== 0xee || !/^[A-Za-z0-9]([A-Za-z0-9.-]{0,180}[A-Za-z0-9])?$/.test(domain)) return undefined;
  return { key, disguise: 'tls', domain };
}

function bytesOf(text: string): Buffer | undefined {
  if (/^(?:[0-9a-f]{2})+$/i.test(text)) return Buffer.from(text, 'hex');
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}
