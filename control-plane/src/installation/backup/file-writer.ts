import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import type { Sealer } from '../../platform/crypto/seal.ts';
import { authenticate, frameHeaderBytes, frameKinds, magic, maxBlockBytes } from './format.ts';
import type { BackupHeader, BackupIdentities, BackupTable } from './format.ts';

const compress = promisify(zstdCompress);
const options = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };
const newLine = 0x0a;

/** Where the bytes of a backup go; resolves when it can take more. */
export type Sink = (bytes: Buffer) => Promise<void>;

/** Writes the frames of one backup in order, and seals it. */
export class BackupWriter {
  readonly #sink: Sink;
  readonly #hash = createHash('sha256');
  #tables = 0;
  #rows = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  async begin(header: BackupHeader): Promise<void> {
    await this.#write(magic);
    await this.#writeJson(frameKinds.header, header);
  }

  /** Writes a table from the chunks of a COPY in text format, however they are cut. @returns its number of rows */
  async table(table: BackupTable, chunks: AsyncIterable<Buffer>): Promise<number> {
    await this.#writeJson(frameKinds.table, table);
    let rows = 0;
    let block: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; ) {
        const part = chunk.subarray(at, at + maxBlockBytes - bytes);
        at += part.length;
        bytes += part.length;
        rows += linesIn(part);
        block.push(part);
        if (bytes < maxBlockBytes) continue;
        await this.#writeFrame(frameKinds.rows, await compress(Buffer.concat(block), options));
        block = [];
        bytes = 0;
      }
    }
    if (bytes > 0) await this.#writeFrame(frameKinds.rows, await compress(Buffer.concat(block), options));
    await this.#writeJson(frameKinds.tableEnd, { rows });
    this.#tables += 1;
    this.#rows += rows;
    return rows;
  }

  /** Writes the last frames and the seal. @returns rows of all tables */
  async end(identities: BackupIdentities, sealer: Sealer): Promise<number> {
    await this.#writeJson(frameKinds.identities, identities);
    await this.#writeJson(frameKinds.end, { tables: this.#tables, rows: this.#rows });
    const sum = this.#hash.digest();
    await this.#sink(Buffer.concat([sum, authenticate(sealer, sum)]));
    return this.#rows;
  }

  async #writeJson(kind: number, value: unknown): Promise<void> {
    await this.#writeFrame(kind, Buffer.from(JSON.stringify(value)));
  }

  async #writeFrame(kind: number, payload: Buffer): Promise<void> {
    const start = Buffer.alloc(frameHeaderBytes);
    start.writeUInt8(kind, 0);
    start.writeUInt32BE(payload.length, 1);
    await this.#write(start);
    await this.#write(payload);
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    await this.#sink(bytes);
  }
}

/** Rows of COPY text: a line break inside a value is written as an escape, so each one ends a row. */
export function linesIn(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(newLine); at !== -1; at = bytes.indexOf(newLine, at + 1)) lines += 1;
  return lines;
}
