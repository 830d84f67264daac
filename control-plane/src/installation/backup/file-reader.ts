import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import type { z } from 'zod';
import { BackupError } from './backup-error.ts';
import { linesIn } from './file-writer.ts';
import {
  endSchema,
  frameHeaderBytes,
  frameKinds,
  headerSchema,
  identitiesSchema,
  magic,
  maxBlockBytes,
  maxFrameBytes,
  sealBytes,
  tableEndSchema,
  tableSchema,
} from './format.ts';
import type { BackupHeader, BackupIdentities, BackupTable } from './format.ts';

const decompress = promisify(zstdDecompress);

export type BackupPart =
  | { readonly type: 'header'; readonly header: BackupHeader }
  | { readonly type: 'table'; readonly table: BackupTable }
  | { readonly type: 'rows'; readonly text: Buffer }
  | { readonly type: 'table end'; readonly name: string; readonly rows: number }
  | { readonly type: 'identities'; readonly identities: BackupIdentities }
  /** The last part; only after it everything that was read before is known to be whole. */
  | { readonly type: 'end'; readonly rows: number; readonly sum: Buffer; readonly proof: Buffer };

const states = {
  start: ['header'],
  between: ['table', 'identities'],
  inTable: ['rows', 'tableEnd'],
  afterTables: ['end'],
} as const satisfies Record<string, readonly (keyof typeof frameKinds)[]>;

/**
 * Reads a backup part by part from its beginning and checks all that can be checked without a key: order and form of the frames, numbers of
 * rows, and the checksum.
 * @param name what the file is called in messages
 * @throws BackupError for anything that is not a whole backup
 */
export async function* readBackup(handle: FileHandle, name: string): AsyncGenerator<BackupPart> {
  const source = new Source(handle, name);
  const damaged = (what: string): BackupError =>
    new BackupError(`${name} is damaged or was altered (${what}): take another backup`);
  const first = await source.take(magic.length).catch(() => Buffer.alloc(0));
  if (!first.equals(magic)) throw new BackupError(`${name} is not a backup of Parallax`);

  let state: keyof typeof states = 'start';
  let table: { name: string; rows: number } | undefined;
  const seen = new Set<string>();
  let rows = 0;
  for (;;) {
    const start = await source.take(frameHeaderBytes);
    const kind = start.readUInt8(0);
    const length = start.readUInt32BE(1);
    const expected: readonly (keyof typeof frameKinds)[] = states[state];
    const found = expected.find((each) => frameKinds[each] === kind);
    if (found === undefined || length > maxFrameBytes) throw damaged(`no frame that fits at byte ${source.position}`);
    const payload = await source.take(length);
    const parsed = <Value>(schema: z.ZodType<Value>): Value => parse(payload, schema, found, name, damaged);
    if (found === 'header') {
      yield { type: 'header', header: parsed(headerSchema) };
      state = 'between';
    } else if (found === 'table') {
      const begun = parsed(tableSchema);
      if (seen.has(begun.name)) throw damaged(`the table ${begun.name} stands in it twice`);
      seen.add(begun.name);
      table = { name: begun.name, rows: 0 };
      yield { type: 'table', table: begun };
      state = 'inTable';
    } else if (found === 'rows' && table !== undefined) {
      const text = await decompress(payload, { maxOutputLength: maxBlockBytes }).catch(() => {
        throw damaged(`rows of ${table?.name ?? ''}`);
      });
      table.rows += linesIn(text);
      yield { type: 'rows', text };
    } else if (found === 'tableEnd' && table !== undefined) {
      if (parsed(tableEndSchema).rows !== table.rows) throw damaged(`the number of rows of ${table.name}`);
      rows += table.rows;
      yield { type: 'table end', ...table };
      table = undefined;
      state = 'between';
    } else if (found === 'identities') {
      yield { type: 'identities', identities: parsed(identitiesSchema) };
      state = 'afterTables';
    } else {
      const end = parsed(endSchema);
      if (end.tables !== seen.size || end.rows !== rows) throw damaged('the number of tables or rows');
      const sum = source.sum();
      const seal = await source.take(sealBytes);
      if (!seal.subarray(0, 32).equals(sum)) throw damaged('the checksum differs');
      if (!(await source.isAtEnd())) throw damaged('something follows its end');
      yield { type: 'end', rows, sum, proof: seal.subarray(32) };
      return;
    }
  }
}

function parse<Value>(
  payload: Buffer,
  schema: z.ZodType<Value>,
  what: string,
  name: string,
  damaged: (what: string) => BackupError,
): Value {
  let json: unknown;
  try {
    json = JSON.parse(payload.toString('utf8'));
  } catch {
    throw damaged(`the frame ${what}`);
  }
  const format: unknown = what === 'header' ? (json as { format?: unknown } | null)?.format : undefined;
  if (typeof format === 'number' && format > 1) {
    throw new BackupError(
      `${name} has format ${format} and this program reads 1: restore it with a newer version of Parallax`,
    );
  }
  const result = schema.safeParse(json);
  if (!result.success) throw damaged(`the frame ${what}`);
  return result.data;
}

/** The bytes of a file in order, with the checksum of what was taken. */
class Source {
  readonly #handle: FileHandle;
  readonly #name: string;
  readonly #hash = createHash('sha256');
  readonly #buffer = Buffer.allocUnsafeSlow(256 * 1024);
  #held = Buffer.alloc(0);
  #readAt = 0;
  #given = 0;

  constructor(handle: FileHandle, name: string) {
    this.#handle = handle;
    this.#name = name;
  }

  get position(): number {
    return this.#given;
  }

  sum(): Buffer {
    return this.#hash.copy().digest();
  }

  /** @throws BackupError when the file ends before */
  async take(bytes: number): Promise<Buffer> {
    const taken = Buffer.allocUnsafe(bytes);
    let filled = 0;
    while (filled < bytes) {
      if (this.#held.length === 0) await this.#fill();
      if (this.#held.length === 0) {
        throw new BackupError(
          `${this.#name} is cut off after ${this.#readAt} bytes: take another backup, or copy it again`,
        );
      }
      const part = this.#held.subarray(0, bytes - filled);
      part.copy(taken, filled);
      filled += part.length;
      this.#held = this.#held.subarray(part.length);
    }
    this.#given += bytes;
    this.#hash.update(taken);
    return taken;
  }

  async isAtEnd(): Promise<boolean> {
    if (this.#held.length === 0) await this.#fill();
    return this.#held.length === 0;
  }

  async #fill(): Promise<void> {
    const { bytesRead } = await this.#handle.read(this.#buffer, 0, this.#buffer.length, this.#readAt);
    this.#readAt += bytesRead;
    this.#held = this.#buffer.subarray(0, bytesRead);
  }
}
