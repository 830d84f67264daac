import { randomBytes } from 'node:crypto';
import argon2 from 'argon2';
import { createHashingQueue } from './hashing-queue.ts';

// OWASP's recommendation for Argon2id: 19 MiB, two passes, one lane.
const cost = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Hashes and checks passwords; at most 4 at once, since each takes 19 MiB and a thread, and at most 64 waiting. */
export type PasswordHasher = {
  /** The password as Argon2id in PHC form. */
  readonly hash: (password: string) => Promise<string>;
  /** Whether the password belongs to the hash. Without a hash (no such account) it does the same work and says no. */
  readonly verify: (hash: string | null, password: string) => Promise<boolean>;
};

/** @throws Problem `busy` from both functions when the queue is full */
export function createPasswordHasher(limits = { atOnce: 4, waiting: 64 }): PasswordHasher {
  const enqueue = createHashingQueue(limits);
  let decoy: Promise<string> | undefined;
  const decoyHash = (): Promise<string> => {
    decoy ??= argon2.hash(randomBytes(16), cost);
    return decoy;
  };
  return {
    hash: (password) => enqueue(() => argon2.hash(password, cost)),
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
