import { problems } from '@parallax/api-contract';
import type { ProblemCode } from '@parallax/api-contract';
import type { Page } from '../../../platform/http/page.ts';
import { prepareAnswer } from '../../../platform/http/prepared/prepared-answer.ts';
import type { PreparedAnswer, PreparedHeaders } from '../../../platform/http/prepared/prepared-answer.ts';
import { cookieName } from './cookie.ts';
import type { PageAccess } from './page-access.ts';

/** Nothing of a private page is kept by anybody, read by pages of other origins, or found by search engines. */
export const privateHeaders = { 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow' } as const;

/** A page of a private page's forms. */
export function pageAnswer(status: number, { html, policy }: Page, more: PreparedHeaders = {}): PreparedAnswer {
  const type = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy };
  return prepareAnswer(status, { ...type, ...privateHeaders, ...more }, html);
}

/** Leads to another place. */
export function leadTo(location: string, more: PreparedHeaders = {}): PreparedAnswer {
  return prepareAnswer(303, { 'content-type': 'text/html; charset=utf-8', location, ...privateHeaders, ...more }, '');
}

const details = {
  password_required:
    'the page is private: send its password as X-Status-Password or by Basic authentication, or open it in a browser',
  rate_limited: 'too many wrong passwords came from this address; try again later',
  busy: 'too many passwords are being compared; try again',
} as const satisfies Partial<Record<ProblemCode, string>>;

/** The error of the API in short. */
export function problemAnswer(code: keyof typeof details, more: PreparedHeaders = {}): PreparedAnswer {
  const { status, title } = problems[code];
  const problem = { type: 'about:blank', title, status, code, detail: details[code] };
  const headers = { 'content-type': 'application/problem+json', ...privateHeaders, ...more };
  return prepareAnswer(status, headers, JSON.stringify(problem));
}

/** How a program shows that it may read a page (RFC 9110, section 11.6.1). */
export function challengeOf({ passwordHash }: Pick<PageAccess, 'passwordHash'>, action: string): string {
  return passwordHash === null ? formChallenge(action) : 'Basic realm="status page", charset="UTF-8"';
}

/** For documents that people see: a scheme that no browser knows, since for Basic they would show a window of their own in place of the form. */
export function formChallenge(action: string): string {
  return `Cookie realm="status page", form-action="${action}", cookie-name="${cookieName}"`;
}

/** In whole seconds, as `Retry-After` has it. */
export function retryAfter(waitMs: number): { readonly 'retry-after': string } {
  return { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1_000))) };
}
