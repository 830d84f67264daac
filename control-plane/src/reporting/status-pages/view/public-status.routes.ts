import { Problem, publicStatusRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { findPublishedPage, readPageView } from './page-view.gateway.ts';
import { publicStatusOf } from './public-status.ts';

const slugForm = /^[a-z0-9][a-z0-9-]{1,62}$/;

/** Status pages for programs, without credentials. */
export function publicStatusRoutes(context: Context): Route[] {
  return [
    handle(publicStatusRoute, async ({ params: { slug } }) => {
      // What cannot be a slug is asked of nobody.
      const page = slugForm.test(slug) ? await findPublishedPage(context, slug) : null;
      const view = page === null ? null : await readPageView(context, page, context.now());
      if (view === null) throw new Problem('not_found', 'there is no status page of this name');
      return publicStatusOf(view);
    }),
  ];
}
