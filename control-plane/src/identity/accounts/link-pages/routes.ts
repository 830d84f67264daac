import { confirmEmailPageRoute, resetPasswordPageRoute } from '@parallax/api-contract';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { linkPage } from './page.ts';

/** The pages that mailed links open. */
export function linkPageRoutes(): readonly Route[] {
  const pages = [
    { contract: resetPasswordPageRoute, ...linkPage('reset-password') },
    { contract: confirmEmailPageRoute, ...linkPage('confirm-email') },
  ];
  return pages.map(({ contract, html, policy }) =>
    handle(contract, async ({ request }) => {
      void request.reply.header('content-security-policy', policy);
      return html;
    }),
  );
}
