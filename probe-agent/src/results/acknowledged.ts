import { crc32 } from 'node:zlib';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';

/** What the control plane has committed, as the agent knows it, and the highest epoch that this state folder has ever used. */
export type AcknowledgedVector = {
  readonly highestEpoch: number;
  readonly positions: readonly { readonly epoch: number; readonly shard: number; readonly seq: number }[];
};

export const nothingAcknowledged: AcknowledgedVector = { highestEpoch: 0, positions: [] };

const magic = Buffer.from('PLXACK\r\n');
const fixedBytes = 8 + 8 + 8 + 4;
const positionBytes = 18;

/** One slot: magic, generation, highest epoch, count, positions, CRC32 of all before. */
export function encodeSlot(generation: number, vector: AcknowledgedVector): Buffer {
  const bytes = Buffer.alloc(fixedBytes + vector.positions.length * positionBytes + 4);
  magic.copy(bytes, 0);
  bytes.writeDoubleLE(generation, 8);
  bytes.writeDoubleLE(vector.highestEpoch, 16);
  bytes.writeUInt32LE(vector.positions.length, 24);
  vector.positions.forEach((position, index) => {
    const at = fixedBytes + index * positionBytes;
    bytes.writeDoubleLE(position.epoch, at);
    bytes.writeUInt16LE(position.shard, at + 8);
    bytes.writeDoubleLE(position.seq, at + 10);
  });
  bytes.writeUInt32LE(crc32(bytes.subarray(0, bytes.length - 4)), bytes.length - 4);
  return bytes;
}

/** Undefined for a slot that was never written whole or is damaged. What follows the slot in the file (an older, longer one) does not matter. */
export function decodeSlot(bytes: Buffer): { generation: number; vector: AcknowledgedVector } | undefined {
  if (bytes.length < fixedBytes + 4 || !bytes.subarray(0, 8).equals(magic)) return undefined;
  const count = bytes.readUInt32LE(24);
  const end = fixedBytes + count * positionBytes;
  if (end + 4 > bytes.length || crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end)) return undefined;
  const positions = Array.from({ length: count }, (_, index) => {
    const at = fixedBytes + index * positionBytes;
    return { epoch: bytes.readDoubleLE(at), shard: bytes.readUInt16LE(at + 8), seq: bytes.readDoubleLE(at + 10) };
  });
  return { generation: bytes.readDoubleLE(8), vector: { highestEpoch: bytes.readDoubleLE(16), positions } };
}

/** The acknowledged vector on disk, in two files that are overwritten in turn: a write that is cut off leaves the other one. */
export class AcknowledgedFile {
  readonly #folder: string;
  #generation: number;

  private constructor(folder: string, generation: number) {
    this.#folder = folder;
    this.#generation = generation;
  }

  /** Reads the newer whole slot; a folder without one has nothing acknowledged. */
  static async open(folder: string): Promise<{ file: AcknowledgedFile; vector: AcknowledgedVector }> {
    const slots = await Promise.all([0, 1].map(async (slot) => readSlot(path.join(folder, slotName(slot)))));
    const newest = slots
      .filter((slot) => slot !== undefined)
      .sort((a, b) => b.generation - a.generation)
      .at(0);
    return {
      file: new AcknowledgedFile(folder, newest?.generation ?? 0),
      vector: newest?.vector ?? nothingAcknowledged,
    };
  }

  /** Resolves when the vector is on disk. Must not be called again before it has resolved. */
  async write(vector: AcknowledgedVector): Promise<void> {
    const generation = this.#generation + 1;
    const handle = await open(path.join(this.#folder, slotName(generation % 2)), 'r+').catch(async (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return open(path.join(this.#folder, slotName(generation % 2)), 'w+', 0o600);
    });
    try {
      const bytes = encodeSlot(generation, vector);
      await handle.write(bytes, 0, bytes.length, 0);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    this.#generation = generation;
  }
}

const slotName = (slot: number): string => `acknowledged.${slot}`;

async function readSlot(file: string): Promise<ReturnType<typeof decodeSlot>> {
  try {
    return decodeSlot(await readFile(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
