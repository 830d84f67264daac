import type { Fields } from './fields.ts';

/** A column of a result: its type, and how the length of a value is written (MS-TDS 2.2.5.4). */
export type Column = {
  readonly type: number;
  readonly length: 'fixed' | 'byte' | 'short' | 'parts';
  /** Bytes of a value of fixed length. */
  readonly bytes: number;
  readonly scale: number;
  readonly utf8: boolean;
};

const fixedBytes = new Map([
  [0x1f, 0],
  [0x30, 1],
  [0x32, 1],
  [0x34, 2],
  [0x38, 4],
  [0x3a, 4],
  [0x3b, 4],
  [0x3c, 8],
  [0x3d, 8],
  [0x3e, 8],
  [0x7a, 4],
  [0x7f, 8],
]);
const characters = new Set([0xa7, 0xaf, 0xe7, 0xef]);
const unlimited = 0xffff;
const noValue = 0xffff;
const noParts = 0xffffffffffffffffn;
const utf8Flag = 0x04000000;

export function readColumn(fields: Fields): Column {
  fields.take(6);
  const column = readType(fields);
  fields.text(fields.byte());
  return column;
}

function readType(fields: Fields): Column {
  const type = fields.byte();
  const plain = { type, bytes: fixedBytes.get(type) ?? 0, scale: 0, utf8: false };
  if (fixedBytes.has(type)) return { ...plain, length: 'fixed' };
  switch (type) {
    case 0x24: // uniqueidentifier
    case 0x26: // int
    case 0x68: // bit
    case 0x6d: // float
    case 0x6e: // money
    case 0x6f: // datetime
      fields.byte();
      return { ...plain, length: 'byte' };
    case 0x28: // date
      return { ...plain, length: 'byte' };
    case 0x29: // time
    case 0x2a: // datetime2
    case 0x2b: // datetimeoffset
      return { ...plain, length: 'byte', scale: fields.byte() };
    case 0x6a: // decimal
    case 0x6c: // numeric
      fields.take(2);
      return { ...plain, length: 'byte', scale: fields.byte() };
    case 0xa5: // varbinary
    case 0xad: // binary
    case 0xa7: // varchar
    case 0xaf: // char
    case 0xe7: // nvarchar
    case 0xef: {
      const length = fields.uint16() === unlimited ? 'parts' : 'short';
      const collation = characters.has(type) ? fields.take(5).readUInt32LE() : 0;
      return { ...plain, length, utf8: (collation & utf8Flag) !== 0 };
    }
    default:
      // Types that were replaced long ago, and those of no fixed form.
      return fields.refuse();
  }
}

/** A value as text, null for NULL. Dates and binary values are in hexadecimal digits: a query can convert them. */
export function readValue(fields: Fields, column: Column): string | null {
  switch (column.length) {
    case 'fixed':
      return column.bytes === 0 ? null : textOf(fields.take(column.bytes), column);
    case 'byte': {
      const length = fields.byte();
      return length === 0 ? null : textOf(fields.take(length), column);
    }
    case 'short': {
      const length = fields.uint16();
      return length === noValue ? null : textOf(fields.take(length), column);
    }
    case 'parts': {
      if (fields.take(8).readBigUInt64LE() === noParts) return null;
      const parts: Buffer[] = [];
      for (let length = fields.take(4).readUInt32LE(); length > 0; length = fields.take(4).readUInt32LE())
        parts.push(fields.take(length));
      return textOf(Buffer.concat(parts), column);
    }
  }
}

function textOf(bytes: Buffer, { type, scale, utf8 }: Column): string {
  switch (type) {
    case 0x26:
    case 0x30:
    case 0x34:
    case 0x38:
    case 0x7f:
    case 0x32:
    case 0x68:
      return integer(bytes).toString();
    case 0x3b:
    case 0x3e:
    case 0x6d:
      if (bytes.length === 4) return String(bytes.readFloatLE());
      return bytes.length === 8 ? String(bytes.readDoubleLE()) : hex(bytes);
    case 0x6a:
    case 0x6c: {
      const digits = decimal(unsigned(bytes.subarray(1)), scale);
      return bytes[0] === 0 ? `-${digits}` : digits;
    }
    case 0xa7:
    case 0xaf:
      return utf8 ? bytes.toString('utf8') : bytes.toString('latin1');
    case 0xe7:
    case 0xef:
      return bytes.toString('utf16le');
    default:
      return hex(bytes);
  }
}

/** One byte stands for 0 to 255; longer ones have a sign. */
function integer(bytes: Buffer): bigint {
  const value = unsigned(bytes);
  return bytes.length === 1 ? value : BigInt.asIntN(bytes.length * 8, value);
}

function unsigned(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

function decimal(value: bigint, scale: number): string {
  if (scale === 0) return value.toString();
  const digits = value.toString().padStart(scale + 1, '0');
  return `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function hex(bytes: Buffer): string {
  return `0x${bytes.toString('hex')}`;
}
