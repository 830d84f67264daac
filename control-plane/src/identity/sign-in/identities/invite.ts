import { inviteTokenHeader, Problem } from '@parallax/api-contract';
import type { RequestFacts } from '../../../platform/http/handler.ts';
import { inviteTokenHash } from '../../workspaces/index.ts';

/**
 * The hash of the invitation that a request brings in a header: the address would put it into logs on the way, and the body of the widget is
 * what the messenger signed.
 * @throws Problem `invite_unknown` for what has not the form of a token
 */
export function broughtInvite(request: Pick<RequestFacts, 'header'>): Buffer | undefined {
  const token = request.header(inviteTokenHeader);
  if (token === undefined) return undefined;
  if (/^[A-Za-z0-9_-]{43}$/.test(token)) return inviteTokenHash(token);
  throw new Problem('invite_unknown', `the header ${inviteTokenHeader} holds no token of an invitation`);
}
