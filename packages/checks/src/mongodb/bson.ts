/**
 * BSON 1.1, as much of it as the commands of a check need: documents are written from plain values and read into plain values. What is
 * read comes from outside: every length is checked, depth and number of fields are bounded.
 */
export type BsonValue = string | number | boolean | null | bigint | Buffer | Date | readonly BsonValue[] | BsonDocument;
export type BsonDocument = { readonly [name: string]: BsonValue };

/** Something else than a document of BSON. */
export class BsonError extends Error {
  override readonly name = 'BsonError';
}

const maxDepth = 20;
const maxFields = 10_000;
const int32 = 2 ** 31;

export function writeDocument(document: BsonDocument): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(document)) {
    const { type, bytes } = writeValue(value);
    parts.push(Buffer.from([type]), Buffer.from(`${name}\0`, 'utf8'), bytes);
  }
  return framed(Buffer.concat(parts));
}

function writeValue(value: BsonValue): { readonly type: number; readonly bytes: Buffer } {
  if (value === null) return { type: 0x0a, bytes: Buffer.alloc(0) };
  if (typeof value === 'boolean') return { type: 0x08, bytes: Buffer.from([value ? 1 : 0]) };
  if (typeof value === 'string') {
    const text = Buffer.from(`${value}\0`, 'utf8');
    return { type: 0x02, bytes: Buffer.concat([int32Of(text.length), text]) };
  }
  if (typeof value === 'number') return writeNumber(value);
  if (typeof value === 'bigint') {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return { type: 0x12, bytes };
  }
  if (Buffer.isBuffer(value))
    return { type: 0x05, bytes: Buffer.concat([int32Of(value.length), Buffer.alloc(1), value]) };
  if (value instanceof Date) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(value.getTime()));
    return { type: 0x09, bytes };
  }
  if (isList(value)) return { type: 0x04, bytes: writeDocument(Object.fromEntries(value.entries())) };
  return { type: 0x03, bytes: writeDocument(value) };
}

function isList(value: readonly BsonValue[] | BsonDocument): value is readonly BsonValue[] {
  return Array.isArray(value);
}

function writeNumber(value: number): { readonly type: number; readonly bytes: Buffer } {
  if (Number.isInteger(value) && value >= -int32 && value < int32) return { type: 0x10, bytes: int32Of(value) };
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return { type: 0x01, bytes };
}

function framed(content: Buffer): Buffer {
  return Buffer.concat([int32Of(content.length + 5), content, Buffer.alloc(1)]);
}

function int32Of(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

/** Reads one document that fills the bytes. Throws `BsonError`. */
export function readDocument(bytes: Buffer): BsonDocument {
  const reader = new Reader(bytes);
  const document = reader.document(0);
  if (reader.at !== bytes.length) throw new BsonError('more than a document');
  return document;
}

class Reader {
  readonly #bytes: Buffer;
  #fields = 0;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  document(depth: number): BsonDocument {
    if (depth > maxDepth) throw new BsonError('too deep');
    const start = this.at;
    const length = this.#int32();
    const end = start + length;
    if (length < 5 || end > this.#bytes.length) throw new BsonError('wrong length');
    const fields: [string, BsonValue][] = [];
    while (this.at < end - 1) {
      this.#fields += 1;
      if (this.#fields > maxFields) throw new BsonError('too many fields');
      const type = this.#take(1)[0] ?? 0;
      fields.push([this.#name(), this.#value(type, depth)]);
    }
    if (this.at !== end - 1 || this.#take(1)[0] !== 0) throw new BsonError('wrong end');
    return Object.fromEntries(fields);
  }

  /** A value of a type that has a plain form; others as their bytes. */
  #value(type: number, depth: number): BsonValue {
    switch (type) {
      case 0x01:
        return this.#take(8).readDoubleLE();
      case 0x02:
      case 0x0d:
      case 0x0e:
        return this.#text();
      case 0x03:
        return this.document(depth + 1);
      case 0x04:
        return Object.values(this.document(depth + 1));
      case 0x05: {
        const length = this.#int32();
        this.#take(1);
        return this.#take(length);
      }
      case 0x07:
        return this.#take(12);
      case 0x08:
        return this.#take(1)[0] === 1;
      case 0x09:
        return new Date(Number(this.#take(8).readBigInt64LE()));
      case 0x06:
      case 0x0a:
      case 0x7f:
      case 0xff:
        return null;
      case 0x0b:
        return `/${this.#name()}/${this.#name()}`;
      case 0x10:
        return this.#int32();
      case 0x11:
      case 0x12: {
        const value = this.#take(8).readBigInt64LE();
        return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
      }
      case 0x13:
        return this.#take(16);
      default:
        throw new BsonError('unknown type');
    }
  }

  #text(): string {
    const length = this.#int32();
    if (length < 1) throw new BsonError('wrong length');
    return this.#take(length).toString('utf8', 0, length - 1);
  }

  #name(): string {
    const end = this.#bytes.indexOf(0, this.at);
    if (end < 0) throw new BsonError('a name without end');
    const name = this.#bytes.toString('utf8', this.at, end);
    this.at = end + 1;
    return name;
  }

  #int32(): number {
    return this.#take(4).readInt32LE();
  }

  #take(length: number): Buffer {
    if (length < 0 || this.at + length > this.#bytes.length) throw new BsonError('too short');
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }
}
