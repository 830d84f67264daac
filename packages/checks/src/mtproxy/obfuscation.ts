import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import type { MtproxySecret } from './secret.ts';

/** The two streams of a connection that nobody can tell from noise. Each call goes on where the one before ended. */
export type Obfuscation = {
  /** The 64 bytes that the client sends first. */
  readonly header: Buffer;
  readonly encrypt: (bytes: Buffer) => Buffer;
  readonly decrypt: (bytes: Buffer) => Buffer;
};

/** Tags of the framing: packets behind their length, without and with padding. */
const framings = { plain: 0xeeeeeeee, padded: 0xdddddddd, tls: 0xdddddddd } as const;
/** First words that a header must not have, since other protocols and framings begin with them. */
const takenWords = new Set([0x44414548, 0x54534f50, 0x20544547, 0x4954504f, 0x02010316, 0xdddddddd, 0xeeeeeeee]);

/**
 * The obfuscated transport as Telegram documents it ("Transport obfuscation" of its MTProto pages): AES-256 in counter mode, with keys
 * out of the header and the secret; the server's stream has those of the header read backwards. `dc` is the data centre that the proxy
 * shall forward to.
 */
export function obfuscate({ key, disguise }: MtproxySecret, dc: number, random = randomBytes): Obfuscation {
  const header = freeHeader(random);
  header.writeUInt32LE(framings[disguise], 56);
  header.writeInt16LE(dc, 60);
  const encrypt = cipherOf(header, key);
  const decrypt = cipherOf(Buffer.from(header).reverse(), key);
  const hidden = encrypt(header);
  return { header: Buffer.concat([header.subarray(0, 56), hidden.subarray(56)]), encrypt, decrypt };
}

function freeHeader(random: (size: number) => Buffer): Buffer {
  for (;;) {
    const header = random(64);
    if (header[0] !== 0xef && !takenWords.has(header.readUInt32LE(0)) && header.readUInt32LE(4) !== 0) return header;
  }
}

/** AES in counter mode is the same in both directions. Without a secret the key is taken as it stands. */
function cipherOf(header: Buffer, secret: Buffer): (bytes: Buffer) => Buffer {
  const own = header.subarray(8, 40);
  const key = secret.length === 0 ? own : createHash('sha256').update(own).update(secret).digest();
  const cipher = createCipheriv('aes-256-ctr', key, header.subarray(40, 56));
  return (bytes) => cipher.update(bytes);
}
