import type { ChildProcess } from 'node:child_process';

/** The folder of the checkout. */
export const root: string;

/** Why an installation is needed, or undefined: what npm noted about `node_modules` is compared with the lock file. */
export function whatIsMissing(folder?: string): string | undefined;

/** Runs `npm ci` if it is needed; rejects when it fails. `onSpawn` gets the process, so that a signal can end it. */
export function ensureInstalled(options: {
  readonly print: (line: string) => void;
  readonly onSpawn?: (child: ChildProcess) => void;
  readonly folder?: string;
}): Promise<void>;

/** The Node that runs the product: the pinned one, else this one when it is new enough; throws otherwise. */
export function productNode(folder?: string): string;
