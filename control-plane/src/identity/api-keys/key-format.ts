import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const keyPrefix = 'plk_';
const randomCharacters = 32;
const checksumCharacters = 6;

/** How many characters of a key are kept to recognise it by. */
const shownCharacters = keyPrefix.length + 8;

/** A new API key: `plk_`, 32 random characters (190 bit), and a checksum, by which scanners and typing errors are told apart. */
export function makeApiKey(): string {
  const random = Array.from({ length: randomCharacters }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `${keyPrefix}${random}${checksumOf(random)}`;
}

/** Whether the text has the form of an API key, checksum included; spares the database what cannot be one. */
export function isApiKeyForm(text: string): boolean {
  if (!/^plk_[0-9A-Za-z]{38}$/.test(text)) return false;
  const random = text.slice(keyPrefix.length, keyPrefix.length + randomCharacters);
  return checksumOf(random) === text.slice(keyPrefix.length + randomCharacters);
}

/** SHA-256 of a key: all that is stored. A key is random enough that a slow hash would add nothing. */
export function apiKeyHash(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The beginning of a key, shown in lists. */
export function apiKeyStart(key: string): string {
  return key.slice(0, shownCharacters);
}

/** CRC-32 of the random part in base 62, most significant first. */
function checksumOf(random: string): string {
  let rest = crc32(random);
  let text = '';
  for (let index = 0; index < checksumCharacters; index += 1) {
    text = (alphabet[rest % alphabet.length] ?? '') + text;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}
