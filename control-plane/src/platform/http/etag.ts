import { Problem } from '@parallax/api-contract';

/** The ETag of a version. */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/**
 * Holds a write against `If-Match`: absent and `*` match, else one of the listed tags must be the version.
 * @throws Problem `version_mismatch` (412)
 */
export function requireMatch(ifMatch: string | undefined, version: number): void {
  if (ifMatch === undefined) return;
  const tags = ifMatch.split(',').map((tag) =>
    tag
      .trim()
      .replace(/^W\//, '')
      .replace(/^"(.*)"$/, '$1'),
  );
  if (tags.some((tag) => tag === '*' || tag === String(version))) return;
  throw new Problem('version_mismatch', `the version is ${version}, If-Match named ${ifMatch.slice(0, 100)}`);
}
