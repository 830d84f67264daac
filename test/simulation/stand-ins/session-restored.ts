/* Whether a backup was restored: not in the model. */

export async function knownHere(_database: unknown, knownRevision: bigint): Promise<bigint> {
  return knownRevision;
}
