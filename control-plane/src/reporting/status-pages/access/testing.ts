import { createHash } from 'node:crypto';
import type { PreparedClient } from '../../../platform/http/prepared/before-routes.ts';
import type { PageAccess } from './page-access.ts';

/** Who may read a page of tests. Its hash is one by which `verifyPlain` compares. */
export function accessFor(parts: Partial<PageAccess> = {}): PageAccess {
  const { pageId = 1, version = 1 } = parts;
  const cookieKey = createHash('sha256').update(`${pageId} ${version}`).digest('base64url');
  return { pageId, version, passwordHash: null, mailDomains: [], addresses: [], cookieKey, ...parts };
}

/** Compares passwords with hashes that are passwords, at once. */
export const verifyPlain = async (hash: string | null, password: string): Promise<boolean> => hash === password;

/** Somebody who sends such headers. */
export function clientWith(headers: Readonly<Record<string, string>> = {}, address = '198.51.100.7'): PreparedClient {
  return { header: (name) => headers[name], address: () => address };
}

/** Header of Basic authentication. */
export const basic = (password: string, user = ''): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
