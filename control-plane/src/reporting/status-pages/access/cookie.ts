import { createHmac, timingSafeEqual } from 'node:crypto';
import type { PageAccess } from './page-access.ts';

export const cookieName = 'status_access';
const cookieSeconds = 12 * 3_600;
/** Cookies of one name that are looked at: other places of the site may have set some. */
const mostCookies = 5;

/** The header by which a browser keeps that it may read a page. @param path of the page, below which the cookie is sent */
export function setCookie(
  access: Pick<PageAccess, 'cookieKey'>,
  { path, isSecure, nowMs }: { readonly path: string; readonly isSecure: boolean; readonly nowMs: number },
): string {
  const expires = (Math.floor(nowMs / 1_000) + cookieSeconds).toString(36);
  const value = `${expires}.${macOf(access, expires).toString('base64url')}`;
  const secure = isSecure ? '; Secure' : '';
  return `${cookieName}=${value}; Path=${path}; Max-Age=${cookieSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** Whether a header `Cookie` holds one that the page gave in its present version. */
export function hasCookie(access: Pick<PageAccess, 'cookieKey'>, header: string | undefined, nowMs: number): boolean {
  if (header?.includes(cookieName) !== true) return false;
  const given = header.split(';').flatMap((part) => {
    const [name, value] = part.trim().split('=', 2);
    return name === cookieName && value !== undefined ? [value] : [];
  });
  return given.slice(0, mostCookies).some((value) => isGood(access, value, nowMs));
}

function isGood(access: Pick<PageAccess, 'cookieKey'>, value: string, nowMs: number): boolean {
  const [, expires = '', mac = ''] = /^([0-9a-z]{1,9})\.([A-Za-z0-9_-]{43})$/.exec(value) ?? [];
  if (expires === '' || Number.parseInt(expires, 36) * 1_000 <= nowMs) return false;
  return timingSafeEqual(Buffer.from(mac, 'base64url'), macOf(access, expires));
}

function macOf({ cookieKey }: Pick<PageAccess, 'cookieKey'>, expires: string): Buffer {
  return createHmac('sha256', Buffer.from(cookieKey, 'base64url')).update(expires).digest();
}
