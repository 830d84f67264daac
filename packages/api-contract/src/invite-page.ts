import { z } from 'zod';
import { route } from './route.ts';

const tag = 'Pages';
const page = { answer: z.string(), contentType: 'text/html; charset=utf-8' };

/** The form of the page: a token, an address, a password that may be long once it is encoded, and a code. */
export const mostInviteFormBytes = 8_192;

export const invitePageRoute = route({
  method: 'GET',
  path: '/invites',
  credentials: 'none',
  tag,
  summary: 'Page that an invitation leads to',
  description:
    'The token stands in the fragment of the address, which is sent to no server; the script of the page sends it as a form. Without scripts the link is pasted into a field.',
  success: { status: 200, ...page },
});

export const useInvitePageRoute = route({
  method: 'POST',
  path: '/invites',
  credentials: 'none',
  tag,
  summary: 'Show an invitation, and join by it',
  description:
    'The forms of the page. `token` alone shows who invites to which workspace and changes nothing. With `action=register` an account is made from `email` and `password`, with `action=sign-in` an account signs in ' +
    'by `email`, `password` and, where it has a second factor, `code`; either becomes a member at once, and no session is left. Every answer is a page: 404 for an invitation that does not exist or was withdrawn, ' +
    '410 for one that was used or has expired, and the page with what was wrong under the status that the API gives it.',
  bytes: { maxBytes: mostInviteFormBytes },
  success: { status: 200, ...page },
  pages: [401, 403, 404, 409, 410, 422, 429],
  errors: [401, 403, 404, 409, 413],
  perAddressPerMinute: 30,
});
