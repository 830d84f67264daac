import { crc32, deflateSync } from 'node:zlib';

/** A picture of 8 bits for red, green and blue each, row by row from the top. */
export type Picture = { readonly width: number; readonly height: number; readonly rgb: Uint8Array };

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A picture as a PNG file (ISO/IEC 15948): truecolour, not interlaced, rows without a filter. Equal pictures make equal bytes. */
export function encodePng({ width, height, rgb }: Picture): Buffer {
  if (rgb.length !== width * height * 3) throw new RangeError(`a picture of ${width} x ${height} has other pixels`);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Bits of a sample, truecolour; compression, filter and interlacing have one value each that is in use.
  header.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.alloc(height * (width * 3 + 1));
  for (let y = 0; y < height; y += 1) {
    rows.set(rgb.subarray(y * width * 3, (y + 1) * width * 3), y * (width * 3 + 1) + 1);
  }
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(typed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}
