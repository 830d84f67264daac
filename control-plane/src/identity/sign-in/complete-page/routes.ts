import { signInCompleteRoute } from '@parallax/api-contract';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { completePage } from './page.ts';

/** `/auth/complete`. */
export function completePageRoutes(): readonly Route[] {
  return [
    handle(signInCompleteRoute, async ({ request }) => {
      void request.reply.header('content-security-policy', completePage.policy);
      return completePage.html;
    }),
  ];
}
