import {
  addSubscribersRoute,
  deleteSubscriberRoute,
  importSubscribersRoute,
  listSubscribersRoute,
  Problem,
} from '@parallax/api-contract';
import type { StatusPageSubscriber } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { requireConfirmedAddress } from '../../../identity/unconfirmed/index.ts';
import { outboxSubject } from '../../../platform/bus/subjects.ts';
import { writeCsv } from '../../../platform/csv/write-csv.ts';
import type { CsvCell } from '../../../platform/csv/write-csv.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { attachment } from '../../../platform/http/attachment.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle, OtherText } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { noPage, readPage, record } from '../pages/pages.gateway.ts';
import type { Actor } from '../pages/pages.gateway.ts';
import { lockPage } from '../pages/pages.queries.ts';
import type { PageRow } from '../pages/row.ts';
import { pageAddress } from '../view/page-address.ts';
import { ask } from './ask.gateway.ts';
import { givenSubscribers, subscribersOfFile } from './given.ts';
import type { GivenSubscriber } from './given.ts';
import { mostSubscribers } from './plan.gateway.ts';
import { mayAdd } from './room.ts';
import { subscriberKey } from './subscriber-key.gateway.ts';
import { componentsAmong, deleteSubscriber, listSubscribers, lockCounts } from './subscribers.queries.ts';
import type { ListedSubscriber } from './subscribers.queries.ts';
import { shownTarget } from './target.ts';
import { sealedFor } from './token.ts';

/** Who is subscribed to a page, for its editors. */
export function editorRoutes(context: Context): readonly Route[] {
  return [
    handle(listSubscribersRoute, async ({ params, query, caller, request }) => {
      await editedPage(context, caller, params.id);
      if (wantsCsv(request)) return exported(context, caller, request, params.id, query.state ?? null);
      const wanted = { state: query.state ?? null, after: query.after ?? 0, limit: query.limit + 1 };
      const rows = await read(context, caller, params.id, wanted);
      const shown = rows.slice(0, query.limit);
      return {
        subscribers: shown.map((row) => answerOf(context, row)),
        next: rows.length > shown.length ? (shown.at(-1)?.id ?? null) : null,
      };
    }),

    handle(addSubscribersRoute, async ({ params, body, caller, request }) =>
      add(context, { caller, request }, params.id, givenSubscribers(body.subscribers)),
    ),

    handle(importSubscribersRoute, async ({ params, file, caller, request }) => {
      await editedPage(context, caller, params.id);
      return add(context, { caller, request }, params.id, subscribersOfFile(file?.bytes));
    }),

    handle(deleteSubscriberRoute, async ({ params, caller, request }) => {
      const page = await editedPage(context, caller, params.id);
      const scope = scopeOf(caller);
      await inScope(context.database.api, scope, async (tx) => {
        if (!(await deleteSubscriber(scope, tx, page.id, params.subscriber_id))) {
          throw new Problem('not_found', `status page ${page.id} has no subscriber ${params.subscriber_id}`);
        }
        const detail = { subscriber_id: params.subscriber_id };
        await record(tx, { caller, request }, page, { action: 'status_page.subscriber_removed', detail });
      });
    }),
  ];
}

/** @throws Problem `not_found`, `forbidden` */
async function editedPage(context: Context, caller: Caller, id: number): Promise<PageRow> {
  const page = await readPage(context, caller, id);
  requireRole(caller, page.workspace_id, 'editor');
  return page;
}

function wantsCsv(request: RequestFacts): boolean {
  const accept = request.header('accept') ?? '';
  return /\btext\/csv\b/.test(accept) && !/\bapplication\/json\b/.test(accept);
}

async function read(
  context: Context,
  caller: Caller,
  pageId: number,
  wanted: { readonly state: string | null; readonly after: number; readonly limit: number },
): Promise<readonly ListedSubscriber[]> {
  const scope = scopeOf(caller);
  return inScope(context.database.api, scope, (tx) => listSubscribers(scope, tx, pageId, wanted));
}

function answerOf({ sealer }: Pick<Context, 'sealer'>, row: ListedSubscriber): StatusPageSubscriber {
  return {
    id: row.id,
    kind: row.kind,
    target: shownTarget({ kind: row.kind, target: sealer.open(row.target_sealed, sealedFor.target).toString() }),
    component_ids: row.component_ids,
    locale: row.locale,
    state: row.state,
    created_at: new Date(row.created_at).toISOString(),
    state_at: new Date(row.state_at).toISOString(),
  };
}

/** Opening a thousand takes 30 ms; other requests have their turn between. */
const exportedAtOnce = 1_000;

async function exported(
  context: Context,
  caller: Caller,
  request: RequestFacts,
  pageId: number,
  state: string | null,
): Promise<OtherText> {
  const records: CsvCell[][] = [['kind', 'target', 'locale', 'component_ids', 'state', 'created_at']];
  for (let after = 0; ; ) {
    const rows = await read(context, caller, pageId, { state, after, limit: exportedAtOnce });
    for (const row of rows) {
      const shown = answerOf(context, row);
      const components = shown.component_ids.join(' ');
      records.push([shown.kind, shown.target, shown.locale, components, shown.state, shown.created_at]);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < exportedAtOnce) break;
    after = last.id;
  }
  request.reply.header('content-disposition', attachment('subscribers.csv'));
  return new OtherText(writeCsv(records), 'text/csv; charset=utf-8');
}

/** Asks everybody who is named and not there yet, all of them or nobody. @throws Problem `not_found`, `forbidden`, `too_many_subscribers` */
async function add(
  context: Context,
  actor: Actor,
  pageId: number,
  given: readonly GivenSubscriber[],
): Promise<{ added: number; known: number }> {
  const { workspace_id: workspaceId } = await editedPage(context, actor.caller, pageId);
  await requireConfirmedAddress(context, actor.caller, 'subscribers are added');
  const scope = scopeOf(actor.caller);
  const key = await subscriberKey(context);
  const most = await mostSubscribers(context, workspaceId);
  const added = await inScope(context.database.api, scope, async (tx) => {
    const page = await lockPage(scope, tx, pageId);
    if (page === null) throw noPage(pageId);
    const before = await lockCounts(scope, tx, pageId);
    const domain = page.domain?.state === 'verified' ? page.domain.domain : null;
    const url = pageAddress({ slug: page.slug, domain }, context.publicUrl);
    const asking = { pageId, workspaceId, name: page.name, url };
    let count = 0;
    for (const { kind, target, componentIds, locale } of given) {
      const known = await componentsAmong(scope, tx, pageId, componentIds);
      const asked = { kind, target, componentIds: known, locale: locale ?? page.locale };
      if (await ask(context, scope, tx, key, asking, asked)) count += 1;
    }
    if (count > 0 && !mayAdd(before, count, most)) {
      throw new Problem('too_many_subscribers', `the plan of the workspace has room for ${most} subscribers of a page`);
    }
    if (count > 0) await record(tx, actor, page, { action: 'status_page.subscribers_added', detail: { count } });
    return count;
  });
  context.bus.hint(outboxSubject, {});
  return { added, known: given.length - added };
}
