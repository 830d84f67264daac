import { invitePageRoute, Problem, useInvitePageRoute } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { handle, PageAnswer } from '../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../platform/http/handler.ts';
import { pageLocale } from '../../platform/http/page.ts';
import type { Page } from '../../platform/http/page.ts';
import { inviteTokenHash, shownInvite } from '../workspaces/index.ts';
import { credentialsOf, inviteFormOf } from './form.ts';
import type { InviteForm } from './form.ts';
import { joinByRegistering, joinBySigningIn } from './join.gateway.ts';
import type { Joined } from './join.gateway.ts';
import { deadPage, invitationPage, joinedPage, openingPage } from './page.ts';
import { outcomeOfProblem } from './outcome.ts';
import type { FormProblem } from './words.ts';

/** `/invites`, which the links of invitations lead to. */
export function invitePageRoutes(context: Context): readonly Route[] {
  return [
    handle(invitePageRoute, async ({ request }) => sent(request, openingPage(localeOf(request)))),
    handle(useInvitePageRoute, async ({ bytes, request }) => answer(context, request, inviteFormOf(bytes?.bytes))),
  ];
}

async function answer(context: Context, request: RequestFacts, form: InviteForm): Promise<string | PageAnswer> {
  const locale = localeOf(request);
  const invite = await shownInvite(context.database.api, inviteTokenHash(form.token));
  if (invite.verdict !== 'open') {
    const status = { unknown: 404, used: 410, expired: 410, full: 409 }[invite.verdict];
    return sent(request, deadPage(locale, invite.verdict), status);
  }
  const shown = (problem?: FormProblem): Page =>
    invitationPage(locale, invite, { form, problem, mayRegister: context.registration !== 'closed' });
  if (form.action === 'show') return sent(request, shown());
  // No cookie vouches for anybody here; but nobody else's page shall try passwords from this browser's address.
  if (isFromElsewhere(request)) return sent(request, shown('elsewhere'), 403);
  const credentials = credentialsOf(form);
  if (typeof credentials === 'string') return sent(request, shown(credentials), 422);
  const join = form.action === 'register' ? joinByRegistering : joinBySigningIn;
  let joined: Joined;
  try {
    joined = await join(context, request, form.token, credentials);
  } catch (error) {
    const outcome = error instanceof Problem ? outcomeOfProblem(error.code) : undefined;
    if (!(error instanceof Problem) || outcome === undefined) throw error;
    if (error.retryAfterSeconds !== undefined)
      void request.reply.header('retry-after', Math.ceil(error.retryAfterSeconds));
    if ('problem' in outcome) return sent(request, shown(outcome.problem), error.status);
    return sent(request, deadPage(locale, outcome.dead), outcome.status);
  }
  return sent(request, joinedPage(locale, { workspace: invite.workspace, ...joined }, context.frontendUrl));
}

/** Browsers say where a form was sent from (Fetch Metadata); other programs do not, and have nothing of anybody's to misuse. */
function isFromElsewhere(request: RequestFacts): boolean {
  const site = request.header('sec-fetch-site');
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

function localeOf(request: RequestFacts): 'en' | 'ru' {
  return pageLocale(request.header('accept-language'));
}

function sent(request: RequestFacts, page: Page): string;
function sent(request: RequestFacts, page: Page, status: number): PageAnswer;
function sent(request: RequestFacts, page: Page, status?: number): string | PageAnswer {
  void request.reply.header('content-security-policy', page.policy);
  return status === undefined ? page.html : new PageAnswer(status, page.html);
}
