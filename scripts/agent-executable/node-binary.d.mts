/** What the lock file says of the Node of an architecture; throws when it says nothing. */
export function pinnedNode(
  arch: string,
  lockFile?: string,
): { readonly name: string; readonly version: string; readonly integrity: string };

/** Throws when the bytes do not have the SHA-512 that the lock file gives. */
export function assertIntegrity(bytes: Uint8Array, integrity: string, name: string): void;
