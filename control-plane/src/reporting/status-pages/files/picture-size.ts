/** A picture as its header describes it. */
export type PictureHeader = { readonly type: 'png' | 'webp'; readonly width: number; readonly height: number };

/** Reads the header of a PNG or WebP. What a request says of its type counts for nothing. @returns undefined: it is neither */
export function pictureHeader(bytes: Buffer): PictureHeader | undefined {
  return pngHeader(bytes) ?? webpHeader(bytes);
}

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex');

/** The chunk IHDR comes first and has 13 bytes (PNG, third edition, section 11.2.1). */
function pngHeader(bytes: Buffer): PictureHeader | undefined {
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(pngSignature)) return undefined;
  if (bytes.readUInt32BE(8) !== 13 || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined;
  return { type: 'png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** The first chunk of a RIFF container says which kind of WebP it is (RFC 9649, section 2). */
function webpHeader(bytes: Buffer): PictureHeader | undefined {
  if (bytes.length < 30 || bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP')
    return undefined;
  const size = webpSize(bytes, bytes.toString('latin1', 12, 16));
  return size === undefined ? undefined : { type: 'webp', width: size[0], height: size[1] };
}

function webpSize(bytes: Buffer, chunk: string): readonly [width: number, height: number] | undefined {
  switch (chunk) {
    case 'VP8X':
      return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
    case 'VP8L': {
      if (bytes[20] !== 0x2f) return undefined;
      const bits = bytes.readUInt32LE(21);
      return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
    }
    case 'VP8 ':
      // The start code of a key frame (RFC 6386, section 9.1).
      return bytes.readUIntBE(23, 3) === 0x9d012a
        ? [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff]
        : undefined;
    default:
      return undefined;
  }
}
