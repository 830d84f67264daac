import { pageLocale } from '../../../platform/http/page.ts';
import type { PreparedRequest } from '../../../platform/http/prepared/before-routes.ts';
import type { PreparedAnswer, PreparedHeaders } from '../../../platform/http/prepared/prepared-answer.ts';
import type { PageDocument } from '../view/page-document.ts';
import { challengeOf, formChallenge, pageAnswer, problemAnswer, retryAfter } from './answers.ts';
import type { PageAccess } from './page-access.ts';
import type { Checked } from './page-guard.ts';
import { unlockForm } from './pages.ts';

/** A document that somebody may not read, with where it is. */
export type RefusedDocument = {
  readonly prefix: string;
  readonly slug: string;
  readonly document: Pick<PageDocument, 'path' | 'isForPeople'>;
  readonly id: string;
};

/** The same for every document of a page, whether it has that or not: for people the form that lets them in, for programs an error. */
export function refusal(
  access: PageAccess,
  { prefix, slug, document, id }: RefusedDocument,
  checked: Exclude<Checked, { kind: 'open' }>,
  { acceptLanguage, isMapped }: Pick<PreparedRequest, 'acceptLanguage' | 'isMapped'>,
): PreparedAnswer {
  const action = isMapped === true ? '/unlock' : `${prefix}${slug}/unlock`;
  const retry: PreparedHeaders =
    checked.kind === 'limited' ? retryAfter(checked.waitMs) : checked.kind === 'busy' ? retryAfter(2_000) : {};
  if (document.isForPeople !== true) {
    if (checked.kind === 'limited') return problemAnswer('rate_limited', retry);
    if (checked.kind === 'busy') return problemAnswer('busy', retry);
    return problemAnswer('password_required', { 'www-authenticate': challengeOf(access, action) });
  }
  const problem = checked.kind === 'refused' ? undefined : checked.kind;
  const form = unlockForm(pageLocale(acceptLanguage), access, {
    action,
    to: document.path.replace(':id', id),
    problem,
  });
  if (checked.kind === 'refused') return pageAnswer(401, form, { 'www-authenticate': formChallenge(action) });
  return pageAnswer(checked.kind === 'limited' ? 429 : 503, form, retry);
}
