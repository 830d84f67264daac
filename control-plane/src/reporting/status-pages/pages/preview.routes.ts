import { previewStatusPageRoute } from '@parallax/api-contract';
import type { CreateStatusPage } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { htmlDocuments } from '../html/documents.ts';
import { itemsOfPreview, shownPageRow } from '../view/page.queries.ts';
import { readViewOf } from '../view/page-view.gateway.ts';
import type { PageView } from '../view/page-view.ts';
import { itemsOfBody } from './items.ts';
import { requireSubjects } from './pages.gateway.ts';
import { ownTimezone } from './pages.queries.ts';
import { createdValues, wantedSlug } from './values.ts';

/** Showing a page before it is stored, by what renders those that are. */
export function previewRoutes(context: Context): readonly Route[] {
  return [
    handle(previewStatusPageRoute, async ({ body, caller, request }) => {
      requireRole(caller, body.workspace_id, 'editor');
      const view = await previewView(context, caller, body);
      const page = htmlDocuments.find(({ path }) => path === '');
      const html = page?.render(view, { locale: view.locale, id: '', nowMs: context.now() });
      if (page === undefined || html == null) throw new Error('there is no page of a status page');
      const policy = typeof page.policy === 'function' ? page.policy(view) : page.policy;
      if (policy !== undefined) void request.reply.header('content-security-policy', policy);
      return html;
    }),
  ];
}

/** What such a page would tell now. Its parts name nothing that is public, since it is not. */
async function previewView(context: Context, caller: Caller, body: CreateStatusPage): Promise<PageView> {
  const nowMs = context.now();
  const workspaceId = body.workspace_id;
  const given = itemsOfBody(body.items);
  const wanted = wantedSlug(body.slug, body.name);
  // Nothing but the workspace of the page is read, whatever else the caller is a member of.
  const scope = { ...scopeOf(caller), workspaceIds: [workspaceId] };
  return inScope(context.database.api, scope, async (tx) => {
    const values = createdValues(body, { nowMs, ownTimezone: await ownTimezone(scope, tx) });
    await requireSubjects(tx, workspaceId, given);
    const items = await itemsOfPreview(scope, tx, workspaceId, given);
    const slug = wanted.kind === 'given' ? wanted.slug : wanted.kind === 'named' ? wanted.base : '';
    const page = shownPageRow.parse({
      ...values,
      public_id: 'preview00000',
      slug,
      // A page that is not stored has neither.
      domain: null,
      files: [],
      created_at: nowMs,
      updated_at: nowMs,
    });
    return readViewOf(scope, tx, { page, items, publicUrl: context.publicUrl }, nowMs);
  });
}
