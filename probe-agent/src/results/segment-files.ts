import { randomInt } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from '../state/files.ts';
import { encodeHeader, headerBytes, scanSegment } from './segment.ts';
import type { Extent, ScannedSegment, SegmentHeader } from './segment.ts';
import type { LostRecord } from './record.ts';

/** A segment of the log on disk, with what it holds. */
export type Segment = {
  readonly header: SegmentHeader;
  readonly path: string;
  bytes: number;
  readonly extents: Extent[];
  readonly lost: LostRecord[];
  /** Its results are being written down as lost; it goes when that is on disk. */
  dropping: boolean;
};

const fileName = (index: number): string => `segment-${String(index).padStart(10, '0')}.log`;
const indexOf = (name: string): number | undefined => {
  const match = /^segment-(\d{10,15})\.log$/.exec(name);
  return match?.[1] === undefined ? undefined : Number(match[1]);
};

/** A salt that nobody outside can know; one for all segments that a process opens. */
export const randomSalt = (): number => randomInt(1, 0xffff_ffff);

/** Makes a new segment durable: file, header, folder entry. `first` is written right behind the header. */
export async function createSegment(
  folder: string,
  header: SegmentHeader,
  first: Buffer,
): Promise<{ segment: Segment; handle: FileHandle }> {
  const file = path.join(folder, fileName(header.index));
  const handle = await open(file, 'wx', 0o600);
  const bytes = Buffer.concat([encodeHeader(header), first]);
  await writeAll(handle, bytes, 0);
  await handle.datasync();
  await syncFolder(folder);
  return { segment: { header, path: file, bytes: bytes.length, extents: [], lost: [], dropping: false }, handle };
}

/** Writes all of the bytes at a position; a short write is continued. */
export async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    if (bytesWritten === 0) throw new Error('the disk took no more bytes');
    written += bytesWritten;
  }
}

/** Reads every segment of the folder, oldest first. A file whose header is gone is put aside as `unreadable.log` (one is kept). */
export async function readSegments(
  folder: string,
): Promise<{ segments: { segment: Segment; scanned: ScannedSegment }[]; highestIndex: number; unreadable: number }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names = (await readdir(folder))
    .filter((name) => indexOf(name) !== undefined)
    .sort((a, b) => (indexOf(a) ?? 0) - (indexOf(b) ?? 0));
  const segments: { segment: Segment; scanned: ScannedSegment }[] = [];
  let unreadable = 0;
  for (const name of names) {
    const file = path.join(folder, name);
    const bytes = await readFile(file);
    const scanned = scanSegment(bytes);
    if (scanned === undefined) {
      if (bytes.length <= headerBytes) await unlink(file);
      else {
        await rename(file, path.join(folder, 'unreadable.log'));
        unreadable += 1;
      }
      continue;
    }
    segments.push({
      scanned,
      segment: {
        header: scanned.header,
        path: file,
        bytes: bytes.length,
        extents: scanned.extents,
        lost: scanned.lost,
        dropping: false,
      },
    });
  }
  return { segments, highestIndex: Math.max(0, ...names.map((name) => indexOf(name) ?? 0)), unreadable };
}

/** Deletes a segment's file; one that is gone already is fine. */
export async function deleteSegment(segment: Segment): Promise<void> {
  await rm(segment.path, { force: true });
}

/** Reads up to `length` bytes of a segment; undefined when its file is gone. */
export async function readPart(segment: Segment, offset: number, length: number): Promise<Buffer | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(segment.path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const bytes = Buffer.allocUnsafe(length);
    const { bytesRead } = await handle.read(bytes, 0, length, offset);
    return bytes.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
