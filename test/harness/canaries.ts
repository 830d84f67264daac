import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A secret that can be recognised wherever it turns up, by the name of what it is. */
export type Canaries = {
  /** A new value of letters and digits, kept under a name. */
  readonly make: (name: string) => string;
  /** Watches a value that the product made. */
  readonly watch: (name: string, value: string) => string;
  /** The names of all that occur in a text, plain or in a common encoding. */
  readonly namesIn: (content: string | Buffer) => readonly string[];
};

export function createCanaries(): Canaries {
  const spellings: { readonly name: string; readonly bytes: Buffer }[] = [];
  const watch = (name: string, value: string): string => {
    for (const text of new Set([value, ...encodings(value)])) spellings.push({ name, bytes: Buffer.from(text) });
    return value;
  };
  return {
    make: (name) => watch(name, `Canary${randomBytes(12).toString('hex')}`),
    watch,
    namesIn: (content) => {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      return [...new Set(spellings.filter((each) => bytes.includes(each.bytes)).map((each) => each.name))];
    },
  };
}

/** Base64 without the characters that depend on what stands before and after, at each of the three places it may begin; hexadecimal. */
function encodings(value: string): readonly string[] {
  const shifted = [0, 1, 2].map((shift) => {
    const encoded = Buffer.from('\0'.repeat(shift) + value).toString('base64');
    return encoded.slice(shift === 0 ? 0 : 4, -4);
  });
  return [...shifted, Buffer.from(value).toString('hex')];
}

/** Every file below a folder with its content, as paths from it; sockets and other special files are passed over. */
export function* filesBelow(folder: string): Generator<{ readonly file: string; readonly content: Buffer }> {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const whole = path.join(entry.parentPath, entry.name);
    yield { file: path.relative(folder, whole), content: readFileSync(whole) };
  }
}
