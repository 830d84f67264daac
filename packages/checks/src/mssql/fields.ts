/** Something else than an answer of SQL Server. */
export class TdsError extends Error {
  override readonly name = 'TdsError';
}

/** Reads fields one after the other; never beyond the end. */
export class Fields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get ended(): boolean {
    return this.#at >= this.#bytes.length;
  }

  take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) return this.refuse();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  byte(): number {
    return this.take(1).readUInt8();
  }

  uint16(): number {
    return this.take(2).readUInt16LE();
  }

  int32(): number {
    return this.take(4).readInt32LE();
  }

  /** A text of so many UTF-16 units. */
  text(units: number): string {
    return this.take(units * 2).toString('utf16le');
  }

  refuse(): never {
    throw new TdsError('not an answer of SQL Server');
  }
}
