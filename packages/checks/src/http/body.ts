import { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { ResponseHead } from './response-parser.ts';

const maxInflatedBytes = 4 * 1024 * 1024;

export type Decoded =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly problem: 'too_large' | 'corrupt' | 'unknown_coding'; readonly detail: string };

/** The value of the last header of that name; undefined when there is none. */
export function headerOf(head: ResponseHead, name: string): string | undefined {
  return head.headers.findLast((each) => each[0] === name)?.[1];
}

/**
 * Takes the content coding off a body, which may be cut short. Synchronous on purpose: it is bounded, rare (only where a keyword
 * is looked for or a failure is kept), and libuv's threads belong to the log's fsync.
 */
export function decodeBody(head: ResponseHead, body: Buffer, maxBytes: number = maxInflatedBytes): Decoded {
  const coding = (headerOf(head, 'content-encoding') ?? 'identity').trim().toLowerCase();
  const flush = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: maxBytes };
  if (body.length === 0) return { ok: true, bytes: body };
  try {
    switch (coding) {
      case 'identity':
      case '':
        return { ok: true, bytes: body };
      case 'gzip':
      case 'x-gzip':
        return { ok: true, bytes: gunzipSync(body, flush) };
      case 'deflate':
        return { ok: true, bytes: hasZlibHeader(body) ? inflateSync(body, flush) : inflateRawSync(body, flush) };
      case 'br':
        return {
          ok: true,
          bytes: brotliDecompressSync(body, {
            finishFlush: constants.BROTLI_OPERATION_FLUSH,
            maxOutputLength: maxBytes,
          }),
        };
      case 'zstd':
      case 'compress':
      case 'x-compress':
      case 'dcb':
      case 'dcz':
        return { ok: false, problem: 'unknown_coding', detail: coding };
      default:
        // "none", "UTF-8" and their like name no coding at all: browsers take such a body as it is.
        return { ok: true, bytes: body };
    }
  } catch (error) {
    const tooLarge = error instanceof RangeError || (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return { ok: false, problem: tooLarge ? 'too_large' : 'corrupt', detail: coding };
  }
}

/** `deflate` means zlib's format, but some servers send the bare stream (RFC 9110, 8.4.1.2). */
function hasZlibHeader(body: Buffer): boolean {
  const first = body[0] ?? 0;
  return (first & 0x0f) === 8 && (first * 256 + (body[1] ?? 0)) % 31 === 0;
}

/** The text of a body in the charset that the server names, else UTF-8. */
export function textOf(head: ResponseHead, bytes: Buffer): string {
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(headerOf(head, 'content-type') ?? '')?.[1]?.toLowerCase();
  if (charset === undefined || charset === 'utf-8' || charset === 'utf8') return bytes.toString('utf8');
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString('utf8');
  }
}
