import type { CommonQueryMethods } from 'slonik';
import type { LinkRequest, Links } from '../channels-gateway.ts';
import { insertLinks } from './queries.ts';
import { linkUrl, newLinkToken } from './token.ts';

/**
 * Makes a page for each of some messages, by which its reader acknowledges or snoozes. Each call makes new ones; those of before go on working. For
 * the worker login.
 * @param publicUrl of the installation
 * @returns addresses in the order of the requests
 */
export async function makeAlertLinks(
  worker: CommonQueryMethods,
  publicUrl: string,
  requests: readonly LinkRequest[],
): Promise<readonly Links[]> {
  const made = requests.map((request) => ({ ...request, ...newLinkToken() }));
  await insertLinks(worker, made);
  return made.map(({ token, isIncident }) => {
    const url = linkUrl(publicUrl, token);
    return { acknowledge: isIncident ? url : null, snooze: url, unsubscribe: null };
  });
}
