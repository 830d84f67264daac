import { createDecipheriv, createECDH, hkdfSync } from 'node:crypto';

/** What a browser keeps of its subscription. */
export type BrowserSecrets = { readonly privateKey: Buffer; readonly publicKey: Buffer; readonly auth: Buffer };

const tagBytes = 16;

/**
 * Opens a push message as a browser does: written from RFC 8291, section 3.4, and RFC 8188, section 2.
 * @throws Error for anything that a browser would drop
 */
export function decryptPush(body: Buffer, browser: BrowserSecrets): Buffer {
  const salt = body.subarray(0, 16);
  const recordSize = body.readUInt32BE(16);
  const idLength = body.readUInt8(20);
  const senderKey = body.subarray(21, 21 + idLength);
  if (recordSize < 18) throw new Error(`a record has at least 18 bytes, not ${recordSize}`);
  if (senderKey.length !== 65) throw new Error('the key id must be the public key of the sender');
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(browser.privateKey);
  const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), browser.publicKey, senderKey]);
  const inputKey = Buffer.from(hkdfSync('sha256', ecdh.computeSecret(senderKey), browser.auth, keyInfo, 32));
  const key = Buffer.from(hkdfSync('sha256', inputKey, salt, 'Content-Encoding: aes128gcm\0', 16));
  const nonce = Buffer.from(hkdfSync('sha256', inputKey, salt, 'Content-Encoding: nonce\0', 12));
  const sealed = body.subarray(21 + idLength);
  if (sealed.length > recordSize) throw new Error('a push message has one record only (RFC 8291, section 4)');
  const decipher = createDecipheriv('aes-128-gcm', key, nonce);
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  const padded = Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()]);
  const end = padded.findLastIndex((byte) => byte !== 0);
  if (padded[end] !== 2) throw new Error('the last record ends with 2 and zeros');
  return padded.subarray(0, end);
}
