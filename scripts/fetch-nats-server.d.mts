export type PinnedRelease = {
  readonly version: string;
  /** The URL below which the versions stand. */
  readonly from: string;
  /** By platform as the release names it, for example linux-amd64. */
  readonly sha256: Readonly<Record<string, string>>;
};

export const release: PinnedRelease;

/** Fetches a nats-server into the data folder unless one is found, or an external server is named; warns of one that is not maintained. */
export function ensureNatsServer(options: { readonly print: (line: string) => void }): Promise<void>;

/** Installs the pinned release or, where it cannot be had, Debian's package; throws with what went wrong and what to do. */
export function fetchNatsServer(options: {
  readonly dataDir: string;
  readonly print: (line: string) => void;
  readonly pinned?: PinnedRelease;
}): Promise<{ readonly path: string; readonly version: string }>;
