/** Bits that end too early, or a number of them that cannot be. */
export class BitsError extends Error {
  override readonly name = 'BitsError';
}

/** Most bits of a length-coded number: what a double holds exactly. */
const longest = 53;
const lengthBits = 6;
const twoTo24 = 2 ** 24;
const shortBytes = 128;

/** Writes numbers bit by bit, the lowest first, into a buffer that is used again. */
export class BitWriter {
  #bytes = new Uint8Array(4_096);
  /** Whole bytes written. */
  #at = 0;
  /** Bits that are not yet a whole byte, fewer than eight between two calls. */
  #open = 0;
  #openBits = 0;

  clear(): void {
    this.#at = 0;
    this.#open = 0;
    this.#openBits = 0;
  }

  /** @param bits 0 to 24; `value` has no more */
  write(value: number, bits: number): void {
    if (this.#at + 4 > this.#bytes.length) this.#grow();
    let open = this.#open | (value << this.#openBits);
    let openBits = this.#openBits + bits;
    while (openBits >= 8) {
      this.#bytes[this.#at++] = open;
      open >>>= 8;
      openBits -= 8;
    }
    this.#open = open;
    this.#openBits = openBits;
  }

  /** A whole number from 0 to 2^53 − 1 in `bits`, 0 to 53. */
  writeLong(value: number, bits: number): void {
    let rest = value;
    let left = bits;
    while (left > 24) {
      this.write(rest % twoTo24, 24);
      rest = Math.floor(rest / twoTo24);
      left -= 24;
    }
    this.write(rest, left);
  }

  /** A whole number from 0 to 2^53 − 1 of unknown size: its length, then its bits. */
  writeCount(value: number): void {
    const bits = bitLength(value);
    this.write(bits, lengthBits);
    this.writeLong(value, bits);
  }

  /** The same with a sign. */
  writeSigned(value: number): void {
    this.write(value < 0 ? 1 : 0, 1);
    this.writeCount(Math.abs(value));
  }

  /** What was written, the last byte filled up with zeros; good until the next write. */
  bytes(): Uint8Array {
    if (this.#openBits === 0) return this.#bytes.subarray(0, this.#at);
    if (this.#at + 4 > this.#bytes.length) this.#grow();
    this.#bytes[this.#at] = this.#open;
    return this.#bytes.subarray(0, this.#at + 1);
  }

  #grow(): void {
    const larger = new Uint8Array(this.#bytes.length * 2);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** Reads what a `BitWriter` wrote. Beyond the end there are zeros; `end` tells whether it was passed. */
export class BitReader {
  #own = new Uint8Array(4_096);
  #view = new DataView(this.#own.buffer);
  #at = 0;
  #bits = 0;

  /** Takes a copy of the bytes from a place on, so that every look is at four bytes that exist. */
  open(bytes: Uint8Array, from = 0): void {
    const length = bytes.length - from;
    if (length + 8 > this.#own.length) this.#make(length * 2 + 8);
    const own = this.#own;
    // Few bytes by hand: a call into the engine costs more.
    if (length <= shortBytes) for (let at = 0; at < length; at += 1) own[at] = bytes[from + at] ?? 0;
    else own.set(from === 0 ? bytes : bytes.subarray(from));
    for (let at = length; at < length + 8; at += 1) own[at] = 0;
    this.#at = 0;
    this.#bits = length * 8;
  }

  #make(bytes: number): void {
    this.#own = new Uint8Array(bytes);
    this.#view = new DataView(this.#own.buffer);
  }

  /** The next bits without taking them: 25 at least, in the lowest places. */
  peek(): number {
    if (this.#at > this.#bits) throw new BitsError('the bytes end too early');
    return this.#view.getUint32(this.#at >>> 3, true) >>> (this.#at & 7);
  }

  skip(bits: number): void {
    this.#at += bits;
  }

  /** @param bits 0 to 24 */
  read(bits: number): number {
    const value = this.peek() & ((1 << bits) - 1);
    this.#at += bits;
    return value;
  }

  /** @param bits 0 to 53 */
  readLong(bits: number): number {
    if (bits > longest) throw new BitsError(`a number of ${bits} bits`);
    let value = 0;
    let scale = 1;
    let left = bits;
    while (left > 24) {
      value += this.read(24) * scale;
      scale *= twoTo24;
      left -= 24;
    }
    return value + this.read(left) * scale;
  }

  readCount(): number {
    return this.readLong(this.read(lengthBits));
  }

  readSigned(): number {
    const isNegative = this.read(1) === 1;
    const value = this.readCount();
    return isNegative ? -value : value;
  }

  /** To be called at the end. @throws BitsError when more was read than there is, or whole bytes are left */
  end(): void {
    if (this.#at > this.#bits) throw new BitsError('the bytes end too early');
    if (this.#bits - this.#at >= 8) throw new BitsError(`${(this.#bits - this.#at) >>> 3} bytes too many`);
  }
}

/** Bits of a whole number from 0 to 2^53 − 1; 0 for 0. */
export function bitLength(value: number): number {
  if (value < 4_294_967_296) return 32 - Math.clz32(value);
  return 64 - Math.clz32(Math.floor(value / 4_294_967_296));
}
