/** The oldest version that everything is tested with. */
export const oldestNatsServer: readonly number[];

/** The oldest line that its makers still correct. */
export const maintainedNatsServer: readonly number[];

/** Where the start script puts a nats-server that it fetched. */
export function downloadedNatsServer(dataDir: string): string;

/** What `--version` says, or undefined when the file does not run. */
export function natsServerVersion(file: string): number[] | undefined;

export function isRecentEnough(version: readonly number[]): boolean;

export function isMaintained(version: readonly number[]): boolean;

/**
 * A nats-server that is new enough: the one that `PARALLAX_NATS_SERVER` names (an error when it does not run or is too old), else the
 * first in the folders of programs (`programFolders`) or in the data folder; else undefined.
 */
export function findNatsServer(
  env: Readonly<Record<string, string | undefined>>,
  options?: { readonly dataDir?: string },
): { readonly path: string; readonly version: string } | undefined;
