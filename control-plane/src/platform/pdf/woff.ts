import { inflateSync } from 'node:zlib';

const signature = 'wOFF';
const woffHeaderBytes = 44;
const woffEntryBytes = 20;
const sfntHeaderBytes = 12;
const sfntEntryBytes = 16;

/**
 * A font as it was before it was packed as WOFF 1.0; anything else comes back as it is. A font that stays packed is inflated again for
 * every glyph that is looked at.
 */
export function unpackedFont(file: Buffer): Buffer {
  if (file.toString('latin1', 0, 4) !== signature) return file;
  const tables = Array.from({ length: file.readUInt16BE(12) }, (_, index) => unpackedTable(file, index));
  const font = Buffer.alloc(
    sfntHeaderBytes +
      tables.length * sfntEntryBytes +
      tables.reduce((bytes, { data }) => bytes + aligned(data.length), 0),
  );
  // The fields for a binary search, from 6 to 12, are not read by anything that looks a table up by its tag.
  file.copy(font, 0, 4, 8);
  font.writeUInt16BE(tables.length, 4);
  let offset = sfntHeaderBytes + tables.length * sfntEntryBytes;
  tables.forEach(({ tag, checksum, data }, index) => {
    const entry = sfntHeaderBytes + index * sfntEntryBytes;
    tag.copy(font, entry);
    font.writeUInt32BE(checksum, entry + 4);
    font.writeUInt32BE(offset, entry + 8);
    font.writeUInt32BE(data.length, entry + 12);
    data.copy(font, offset);
    offset += aligned(data.length);
  });
  return font;
}

function unpackedTable(file: Buffer, index: number): { tag: Buffer; checksum: number; data: Buffer } {
  const entry = woffHeaderBytes + index * woffEntryBytes;
  const offset = file.readUInt32BE(entry + 4);
  const packedBytes = file.readUInt32BE(entry + 8);
  const bytes = file.readUInt32BE(entry + 12);
  const packed = file.subarray(offset, offset + packedBytes);
  return {
    tag: file.subarray(entry, entry + 4),
    checksum: file.readUInt32BE(entry + 16),
    data: packedBytes < bytes ? inflateSync(packed, { maxOutputLength: bytes }) : packed,
  };
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / 4) * 4;
}
