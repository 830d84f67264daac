import { createHash } from 'node:crypto';
import { invalidInput, Problem, statusPageLimits } from '@parallax/api-contract';
import type { StatusPageFileType } from '@parallax/api-contract';
import { pictureHeader } from './picture-size.ts';
import { sanitizeSvg, SvgError } from './sanitize-svg.ts';

/** A picture as it is stored and served. */
export type Picture = {
  readonly type: StatusPageFileType;
  readonly bytes: Buffer;
  readonly hash: string;
  readonly width: number | null;
  readonly height: number | null;
};

/** What a file is, by its bytes. @throws Problem `invalid_input`, `payload_too_large` */
export function pictureOf(bytes: Buffer): Picture {
  const header = pictureHeader(bytes);
  if (header === undefined) return vectorOf(bytes);
  const { type, width, height } = header;
  const { pictureBytes, picturePixels } = statusPageLimits;
  if (bytes.length > pictureBytes) throw tooLarge(pictureBytes);
  if (Math.min(width, height) < 1 || Math.max(width, height) > picturePixels) {
    const message = `has ${width} × ${height} pixels; each side must have 1 to ${picturePixels}`;
    throw invalidInput('body', '', 'picture_size', message);
  }
  return { type, bytes, hash: hashOf(bytes), width, height };
}

function vectorOf(given: Buffer): Picture {
  if (!/^(\ufeff|ï»¿)?\s*</.test(given.toString('latin1', 0, 200))) {
    throw invalidInput('body', '', 'format', 'must be a PNG, a WebP or an SVG');
  }
  if (given.length > statusPageLimits.vectorBytes) throw tooLarge(statusPageLimits.vectorBytes);
  const { text, width, height } = cleanSvg(given);
  const bytes = Buffer.from(text, 'utf8');
  return { type: 'svg', bytes, hash: hashOf(bytes), width, height };
}

function cleanSvg(bytes: Buffer): ReturnType<typeof sanitizeSvg> {
  try {
    return sanitizeSvg(bytes);
  } catch (error) {
    if (error instanceof SvgError) throw invalidInput('body', '', 'svg', error.message);
    throw error;
  }
}

function tooLarge(most: number): Problem {
  return new Problem('payload_too_large', `such a picture may have ${most} bytes at most`);
}

/** Half of a SHA-256: nobody finds two pictures of one hash, and an address stays short. */
const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex').slice(0, 32);
