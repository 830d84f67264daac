import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomCharacters = 32;
const checksumCharacters = 6;
/** How many random characters are kept to recognise a key by. */
const shownCharacters = 8;

/**
 * One kind of durable credential: a prefix that tells what it is, 32 random characters (190 bit), and a checksum, by which scanners and
 * typing errors are told apart without asking the database.
 */
export type RandomKeyKind = {
  readonly make: () => string;
  /** Whether a text has the form of such a key, checksum included. */
  readonly isForm: (text: string) => boolean;
  /** The beginning of a key, shown in lists. */
  readonly start: (key: string) => string;
};

/** @param prefix such as `plk_` */
export function randomKeyKind(prefix: string): RandomKeyKind {
  const length = prefix.length + randomCharacters + checksumCharacters;
  return {
    make: () => {
      const random = Array.from({ length: randomCharacters }, () => alphabet[randomInt(alphabet.length)]).join('');
      return `${prefix}${random}${checksumOf(random)}`;
    },
    isForm: (text) => {
      if (text.length !== length || !text.startsWith(prefix) || !/^[0-9A-Za-z]+$/.test(text.slice(prefix.length))) {
        return false;
      }
      const random = text.slice(prefix.length, prefix.length + randomCharacters);
      return checksumOf(random) === text.slice(prefix.length + randomCharacters);
    },
    start: (key) => key.slice(0, prefix.length + shownCharacters),
  };
}

/** SHA-256 of a key: all that is stored. A key is random enough that a slow hash would add nothing. */
export function randomKeyHash(key: string): Buffer {
  return createHash('sha256').update(key).digest();
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
