const sslRequestCode = 80_877_103;

/** Asks whether TLS may begin; answered by one byte, S or N. */
export function sslRequest(): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeInt32BE(8, 0);
  bytes.writeInt32BE(sslRequestCode, 4);
  return bytes;
}
