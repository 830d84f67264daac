import {
  createStatusPageRoute,
  deleteStatusPageRoute,
  listStatusPagesRoute,
  readStatusPageRoute,
  updateStatusPageRoute,
} from '@parallax/api-contract';
import type { CreateStatusPage, StatusPage, UpdateStatusPage } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { passwordHasher } from '../../../identity/auth/index.ts';
import { requireConfirmedToPublish } from '../../../identity/unconfirmed/index.ts';
import { outboxSubject } from '../../../platform/bus/subjects.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { requireForeignHost } from '../domains/domains.gateway.ts';
import { writeDomain } from '../domains/domains.queries.ts';
import { newProof } from '../domains/proof.ts';
import { itemsOfBody } from './items.ts';
import { replaceItems, writeItems } from './items.queries.ts';
import { changePage, noPage, readPage, record, requireRoom, requireSubjects, shown } from './pages.gateway.ts';
import type { Actor, Done } from './pages.gateway.ts';
import { findPage, insertPage, listPages, markDeleted, ownTimezone, writePage } from './pages.queries.ts';
import { answerOf } from './row.ts';
import type { PageRow } from './row.ts';
import { keepSlugs, renamePage, withFreeSlug } from './slugs.queries.ts';
import { changedItems, changedValues, createdValues, wantedSlug } from './values.ts';

/** Creating, reading, changing and deleting status pages. */
export function pageRoutes(context: Context): Route[] {
  return [
    handle(listStatusPagesRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(context.database.api, scope, (tx) => listPages(scope, tx, query));
      const pages = rows.map((row) => answerOf(row, context.publicUrl));
      return { status_pages: pages, total, page: query.page, page_size: query.page_size };
    }),

    handle(createStatusPageRoute, async ({ body, caller, request }) => {
      requireRole(caller, body.workspace_id, 'editor');
      return create(context, { caller, request }, body);
    }),

    handle(readStatusPageRoute, async ({ params, caller, request }) =>
      shown(context, { caller, request }, await readPage(context, caller, params.id)),
    ),

    handle(updateStatusPageRoute, async ({ params, body, caller, request }) => {
      const actor = { caller, request };
      // Nobody who may not change the page has passwords hashed.
      if (body.password != null)
        requireRole(caller, (await readPage(context, caller, params.id)).workspace_id, 'editor');
      const passwordHash = await hashOf(context, body.password);
      const row = await changePage(context, actor, params.id, (scope, tx, before) =>
        update(context, scope, tx, before, { body, passwordHash }),
      );
      if (row === null) throw noPage(params.id);
      return shown(context, actor, row);
    }),

    handle(deleteStatusPageRoute, async ({ params, caller, request }) => {
      await changePage(context, { caller, request }, params.id, async (_scope, tx, row) => {
        await markDeleted(tx, row.id);
        await keepSlugs(tx, row);
        return { action: 'status_page.deleted', detail: { name: row.name, slug: row.slug } };
      });
    }),
  ];
}

async function create(context: Context, actor: Actor, body: CreateStatusPage): Promise<StatusPage> {
  const scope = scopeOf(actor.caller);
  const workspaceId = body.workspace_id;
  const items = itemsOfBody(body.items);
  const wanted = wantedSlug(body.slug, body.name);
  if (wanted.kind === 'kept') throw new Error('a new page has no slug to keep');
  const passwordHash = await hashOf(context, body.password);
  const row = await inScope(context.database.api, scope, async (tx) => {
    const ownZone = await ownTimezone(scope, tx);
    const values = createdValues(body, { nowMs: context.now(), ownTimezone: ownZone, passwordHash });
    if (values.is_published) await requireConfirmedToPublish(context, scope, tx);
    await requireRoom(scope, tx, workspaceId);
    await requireSubjects(tx, workspaceId, items);
    const id = await withFreeSlug(tx, wanted, (part, slug) => insertPage(part, { workspaceId, slug }, values));
    const made = { id, workspace_id: workspaceId };
    await writeItems(tx, made, items, 0);
    if (body.domain != null) await giveDomain(context, tx, made, body.domain);
    await record(tx, actor, made, { action: 'status_page.created', detail: { name: body.name } });
    return findPage(scope, tx, id);
  });
  if (row === null) throw new Error('a status page was written and is not there');
  context.bus.hint(outboxSubject, {});
  actor.request.reply.header('location', `/api/v1/status-pages/${row.id}`);
  return shown(context, actor, row);
}

async function update(
  context: Context,
  scope: Scope,
  tx: Transaction,
  row: PageRow,
  { body, passwordHash }: { readonly body: UpdateStatusPage; readonly passwordHash: string | undefined },
): Promise<Done | null> {
  const own = body.timezone === null ? await ownTimezone(scope, tx) : row.timezone;
  const { values, fields } = changedValues(row, body, { nowMs: context.now(), ownTimezone: own, passwordHash });
  const wanted = wantedSlug(body.slug, values.name, row.slug);
  const items = changedItems(row, body);
  const isOtherDomain = body.domain !== undefined && body.domain !== (row.domain?.domain ?? null);
  const names = [
    ...fields,
    ...(wanted.kind === 'kept' ? [] : ['slug']),
    ...(items === undefined ? [] : ['items']),
    ...(isOtherDomain ? ['domain'] : []),
  ];
  if (names.length === 0) return null;
  if (values.is_published && !row.is_published) await requireConfirmedToPublish(context, scope, tx);
  if (items !== undefined) {
    await requireSubjects(tx, row.workspace_id, items);
    await replaceItems(tx, row, items);
  }
  if (wanted.kind !== 'kept') await withFreeSlug(tx, wanted, (part, slug) => renamePage(part, row, slug));
  if (isOtherDomain) await giveDomain(context, tx, row, body.domain ?? null);
  await writePage(tx, row.id, values);
  return { action: 'status_page.updated', detail: { fields: names } };
}

async function giveDomain(
  context: Context,
  tx: Transaction,
  page: { readonly id: number; readonly workspace_id: number },
  domain: string | null,
): Promise<void> {
  if (domain !== null) requireForeignHost(context, domain);
  await writeDomain(tx, page, domain === null ? null : { domain, proof: newProof() });
}

/** The hash of a password that a body gives; made before the transaction, since it takes a while. */
async function hashOf(context: Context, password: string | null | undefined): Promise<string | undefined> {
  return password == null ? undefined : passwordHasher(context).hash(password);
}
