import { randomBytes } from 'node:crypto';
import argon2 from 'argon2';
import { createHashingQueue } from './hashing-queue.ts';

// OWASP's recommendation for Argon2id: 19 MiB, two passes, one lane.
const usualMemoryKib = 19_456;
const cost = { type: argon2.argon2id, timeCost: 2, parallelism: 1 } as const;

/** Hashes and checks passwords; at most 4 at once, since each takes 19 MiB and a thread, and at most 64 waiting. */
export type PasswordHasher = {
  /** The password as Argon2id in PHC form. */
  readonly hash: (password: string) => Promise<string>;
  /** Whether the password belongs to the hash. Without a hash (no such account) it does the same work and says no. */
  readonly verify: (hash: string | null, password: string) => Promise<boolean>;
};

/**
 * @param options.memoryKib what a hash is made with, in KiB; less than usual only in tests, which make accounts by the hundred
 * @throws Problem `busy` from both functions when the queue is full
 */
export function createPasswordHasher({ atOnce = 4, waiting = 64, memoryKib = usualMemoryKib } = {}): PasswordHasher {
  const enqueue = createHashingQueue({ atOnce, waiting });
  const hash = (password: string | Buffer): Promise<string> =>
    argon2.hash(password, { ...cost, memoryCost: memoryKib });
  let decoy: Promise<string> | undefined;
  const decoyHash = (): Promise<string> => (decoy ??= hash(randomBytes(16)));
  return {
    hash: (password) => enqueue(() => hash(password)),
    verify: (hash, password) =>
      enqueue(async () => {
        // Made for known accounts too, so that the first unknown one does not take longer.
        const other = await decoyHash();
        const matches = await argon2.verify(hash ?? other, password);
        return hash !== null && matches;
      }),
  };
}

const hashers = new WeakMap<object, PasswordHasher>();

/** The one hasher of a process, so that its limits hold over all who check passwords. @param process whatever stands for the process */
export function passwordHasher(process: object): PasswordHasher {
  const known = hashers.get(process) ?? createPasswordHasher();
  hashers.set(process, known);
  return known;
}

/** Gives a process its hasher, before anything asks for it. */
export function setPasswordHasher(process: object, hasher: PasswordHasher): void {
  hashers.set(process, hasher);
}
