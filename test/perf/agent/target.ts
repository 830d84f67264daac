import { execFileSync, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Teardown } from './teardown.ts';

/** Addresses of loopback that the checks go to: many, as the agent checks one host with two connections at the same time at most. */
export const addressCount = 1_000;

/** The `number`th of them. */
export function targetAddress(number: number): string {
  const index = number % addressCount;
  return `127.1.${Math.floor(index / 250)}.${1 + (index % 250)}`;
}

/** A program that was compiled, or a sentence about what is missing for it. */
export type Compiled = { readonly binary: string } | { readonly missing: string };

/** Compiles a program of this folder; a sentence about what is missing when there is no compiler. */
export function compile(name: 'target' | 'floor', folder: string): Compiled {
  return compileFile(path.join(import.meta.dirname, `${name}.c`), [], folder);
}

/** Compiles a C file with these libraries. */
export function compileFile(source: string, libraries: readonly string[], folder: string): Compiled {
  const binary = path.join(folder, path.basename(source, '.c'));
  try {
    execFileSync('gcc', ['-O2', '-o', binary, source, ...libraries.map((each) => `-l${each}`)], { stdio: 'pipe' });
    return { binary };
  } catch (error) {
    const { stderr } = error as { stderr?: Buffer };
    const said = stderr?.toString('utf8') ?? '';
    if (said.includes('openssl/'))
      return { missing: 'the headers of OpenSSL are missing (apt-get install libssl-dev)' };
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { missing: 'gcc is not installed (apt-get install gcc libc6-dev)' };
  }
}

/** The target as a process of its own. */
export type Target = {
  readonly pid: number;
  readonly port: number;
  /** Requests that it has answered so far. */
  readonly count: () => Promise<number>;
};

/** Starts the target: the compiled one, or a Node process where there is none. */
export async function startTarget(binary: string | undefined, teardown: Teardown): Promise<Target> {
  const [command, args] =
    binary === undefined
      ? [process.execPath, [path.join(import.meta.dirname, 'target-stand-in.ts')]]
      : [binary, [] as string[]];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  teardown(async () => {
    child.stdin.end();
    await ended;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const number = async (): Promise<number> => {
    const line = await lines.next();
    if (line.done === true) throw new Error('the target of the bench has ended');
    return Number(line.value);
  };
  const port = await number();
  return {
    pid: child.pid ?? 0,
    port,
    count: () => {
      child.stdin.write('\n');
      return number();
    },
  };
}
