import type { PageAccess } from './page-access.ts';

/** What is known of a request for a document of a page before anything is waited for. */
export type ShownFacts = {
  readonly isFromAllowedAddress: boolean;
  /** A cookie that this page has given in its present version, and that has not ended. */
  readonly hasCookie: boolean;
  /** `unchecked`: there is one, and nobody has compared it lately. */
  readonly password: 'none' | 'right' | 'unchecked';
};

/** `check`: the password decides, which takes time. */
export type Judgement = 'open' | 'refused' | 'check';

/** Who may read a page, in all its forms. @param access null: it is public */
export function judge(access: Pick<PageAccess, 'passwordHash'> | null, shown: ShownFacts): Judgement {
  if (access === null || shown.isFromAllowedAddress || shown.hasCookie) return 'open';
  if (access.passwordHash === null || shown.password === 'none') return 'refused';
  return shown.password === 'right' ? 'open' : 'check';
}
