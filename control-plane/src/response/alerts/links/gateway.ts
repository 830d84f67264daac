import type { CommonQueryMethods } from 'slonik';
import { insertLinks } from './queries.ts';
import type { WantedLink } from './queries.ts';
import { linkUrl, newLinkToken } from './token.ts';

/**
 * Makes a link for each of some messages: the address of the page by which its reader acknowledges or snoozes. Each call makes new ones; those of
 * before go on working.
 * @param publicUrl without a slash at its end
 * @returns addresses in the order of what was wanted
 */
export async function makeAlertLinks(
  worker: CommonQueryMethods,
  publicUrl: string,
  wanted: readonly WantedLink[],
): Promise<readonly string[]> {
  const made = wanted.map((link) => ({ ...link, ...newLinkToken() }));
  await insertLinks(worker, made);
  return made.map(({ token }) => linkUrl(publicUrl, token));
}
