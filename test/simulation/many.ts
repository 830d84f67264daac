import { fork } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** What a worker tells of a stretch of seeds. */
export type Stretch = {
  readonly worlds: number;
  readonly steps: number;
  readonly simulatedUs: number;
  readonly results: number;
  readonly downs: number;
  readonly compared: number;
  /** One number over the traces of all worlds, the same on every machine. */
  readonly hash: string;
  readonly broken: readonly { readonly seed: number; readonly rule: string; readonly message: string }[];
};

export type ManyOptions = {
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  readonly mutant?: string | undefined;
  readonly isSigned?: boolean;
  /** Ends with the first seed that breaks something. */
  readonly isFirstEnough?: boolean;
};

const worker = path.join(path.dirname(fileURLToPath(import.meta.url)), 'worker.ts');

/** Lives through the worlds of many seeds in a process of its own. Rejects when that process fails. */
export function simulateMany(options: ManyOptions): Promise<Stretch> {
  // Most of what a world makes is garbage soon; a larger young generation saves a fifth of the time.
  const child = fork(worker, [JSON.stringify(options)], { execArgv: ['--max-semi-space-size=64'] });
  return new Promise((resolve, reject) => {
    let told: Stretch | undefined;
    child.on('message', (message) => {
      told = message as Stretch;
    });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (told !== undefined) resolve(told);
      else reject(new Error(`the worlds ${options.from} to ${options.to} ended with ${code ?? 'a signal'}`));
    });
  });
}
