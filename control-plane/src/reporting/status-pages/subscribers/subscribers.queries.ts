import { subscriberKinds, subscriberStates } from '@parallax/api-contract';
import type { SubscriberKind } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { locales } from '../view/locale.ts';
import type { Locale } from '../view/locale.ts';
import type { SubscriberCounts } from './room.ts';

/** A page and its workspace. */
export type SubscribedPage = { readonly pageId: number; readonly workspaceId: number };

/** What is stored of somebody who is to be asked. */
export type NewSubscriber = {
  readonly kind: SubscriberKind;
  readonly targetSealed: Buffer;
  readonly targetHash: Buffer;
  readonly secretSealed: Buffer | null;
  readonly componentIds: readonly string[];
  readonly locale: Locale;
  readonly tokenHash: Buffer;
  readonly tokenSealed: Buffer;
};

const ofScope = (scope: Scope) => sql.fragment`s.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')})`;
const texts = (values: readonly string[]) => sql.array([...values], 'text');

const askedRow = z.object({
  state: z.enum(subscriberStates),
  locale: z.enum(locales),
  token_sealed: z.instanceof(Buffer),
});
/** Somebody who is told now that there is a subscription: to confirm it, or, where they have, how to change it. */
export type AskedSubscriber = z.output<typeof askedRow>;

/** A subscriber is asked so seldom, however often somebody enters their address. */
const askedAgainSeconds = 3_600;

/**
 * Keeps somebody who wants to be told, until they have confirmed it. One who is there already stays as they are where they are told; otherwise the
 * newest wish counts.
 * @returns null: they are there and were asked a moment ago
 */
export async function askSubscriber(
  scope: Scope,
  tx: Transaction,
  page: SubscribedPage,
  wanted: NewSubscriber,
): Promise<(AskedSubscriber & { readonly isNew: boolean }) | null> {
  const isMail = wanted.kind === 'email';
  const made = await tx.maybeOne(sql.type(askedRow)`
    insert into status_page_subscribers as s (workspace_id, page_id, kind, target_sealed, target_hash, secret_sealed, component_ids, locale,
      token_hash, token_sealed, challenge_due_at)
    values (${page.workspaceId}, ${page.pageId}, ${wanted.kind}, ${sql.binary(wanted.targetSealed)}, ${sql.binary(wanted.targetHash)},
      ${wanted.secretSealed === null ? null : sql.binary(wanted.secretSealed)}, ${texts(wanted.componentIds)}, ${wanted.locale},
      ${sql.binary(wanted.tokenHash)}, ${sql.binary(wanted.tokenSealed)}, case when not ${isMail} then clock_timestamp() end)
    on conflict (page_id, target_hash) do nothing
    returning state, locale, token_sealed`);
  if (made !== null) return { ...made, isNew: true };
  const known = await tx.maybeOne(sql.type(askedRow)`
    update status_page_subscribers s set asked_at = clock_timestamp(),
      component_ids = case when s.state = 'active' then s.component_ids else ${texts(wanted.componentIds)} end,
      locale = case when s.state = 'active' then s.locale else ${wanted.locale} end,
      challenge_due_at = case when s.state <> 'active' and not ${isMail} then clock_timestamp() end,
      challenge_attempts = 0,
      state_at = case when s.state in ('active', 'pending') then s.state_at else clock_timestamp() end,
      state = case when s.state = 'active' then s.state else 'pending' end
    where s.page_id = ${page.pageId} and s.target_hash = ${sql.binary(wanted.targetHash)} and ${ofScope(scope)}
      and s.asked_at < clock_timestamp() - make_interval(secs => ${askedAgainSeconds})
    returning s.state, s.locale, s.token_sealed`);
  return known === null ? null : { ...known, isNew: false };
}

/** How many there are; until the transaction ends nobody else counts those of the page. */
export async function lockCounts(scope: Scope, tx: Transaction, pageId: number): Promise<SubscriberCounts> {
  await tx.query(sql.unsafe`
    select pg_advisory_xact_lock(hashtextextended('subscribers of page ' || ${pageId}::integer, 0))`);
  return tx.one(sql.type(z.object({ active: z.number(), pending: z.number() }))`
    select count(*) filter (where s.state = 'active')::integer as active, count(*) filter (where s.state = 'pending')::integer as pending
    from status_page_subscribers s where s.page_id = ${pageId} and ${ofScope(scope)} and s.state in ('active', 'pending')`);
}

const foundRow = z.object({ id: z.number(), workspace_id: z.number(), page_id: z.number() });

/** Whom the token of a link is for, in whatever workspace; null: nobody any more. */
export async function subscriberOfToken(
  api: DatabasePool,
  tokenHash: Buffer,
): Promise<z.output<typeof foundRow> | null> {
  return api.maybeOne(sql.type(foundRow)`
    select id, workspace_id, page_id from identity_page_subscriber(${sql.binary(tokenHash)})`);
}

const linkRow = z.object({
  kind: z.enum(subscriberKinds),
  target_sealed: z.instanceof(Buffer),
  component_ids: z.array(z.string()),
  locale: z.enum(locales),
  state: z.enum(subscriberStates),
  slug: z.string(),
});
export type LinkedSubscriber = z.output<typeof linkRow>;

/** A subscriber, locked until the transaction ends. */
export async function lockSubscriber(scope: Scope, tx: Transaction, id: number): Promise<LinkedSubscriber | null> {
  return tx.maybeOne(sql.type(linkRow)`
    select s.kind, s.target_sealed, s.component_ids, s.locale, s.state, p.slug
    from status_page_subscribers s join status_pages p on p.id = s.page_id
    where s.id = ${id} and ${ofScope(scope)} for no key update of s`);
}

/** From now on they are told. @param from the state that they must be in */
export async function activate(
  scope: Scope,
  tx: Transaction,
  id: number,
  from: 'pending' | 'any' = 'any',
): Promise<void> {
  await tx.query(sql.unsafe`
    update status_page_subscribers s set state = 'active', active_at = clock_timestamp(), state_at = clock_timestamp(), failures = 0,
      challenge_due_at = null
    where s.id = ${id} and ${ofScope(scope)} and s.state <> 'active' and (${from} = 'any' or s.state = ${from})`);
}

/** From now on they are told nothing, and what waits for them is not sent. */
export async function unsubscribe(scope: Scope, tx: Transaction, id: number): Promise<void> {
  await tx.query(sql.unsafe`
    update status_page_subscribers s set state = 'unsubscribed', state_at = clock_timestamp(), challenge_due_at = null
    where s.id = ${id} and ${ofScope(scope)} and s.state <> 'unsubscribed'`);
  await tx.query(sql.unsafe`
    delete from status_page_notices s where s.subscriber_id = ${id} and ${ofScope(scope)} and s.told_id < s.wanted_id`);
}

/** Changes what they are told, and in which language. */
export async function changeSubscription(
  scope: Scope,
  tx: Transaction,
  id: number,
  { componentIds, locale }: { readonly componentIds: readonly string[]; readonly locale: Locale },
): Promise<void> {
  await tx.query(sql.unsafe`
    update status_page_subscribers s set component_ids = ${texts(componentIds)}, locale = ${locale}
    where s.id = ${id} and ${ofScope(scope)}`);
}

const listedRow = z.object({
  id: z.number(),
  kind: z.enum(subscriberKinds),
  target_sealed: z.instanceof(Buffer),
  component_ids: z.array(z.string()),
  locale: z.enum(locales),
  state: z.enum(subscriberStates),
  created_at: z.number(),
  state_at: z.number(),
});
export type ListedSubscriber = z.output<typeof listedRow>;

/** Subscribers of a page of the scope by number. */
export async function listSubscribers(
  scope: Scope,
  tx: Transaction,
  pageId: number,
  wanted: { readonly state: string | null; readonly after: number; readonly limit: number },
): Promise<readonly ListedSubscriber[]> {
  return tx.any(sql.type(listedRow)`
    select s.id, s.kind, s.target_sealed, s.component_ids, s.locale, s.state, s.created_at, s.state_at from status_page_subscribers s
    where s.page_id = ${pageId} and ${ofScope(scope)} and s.id > ${wanted.after} and (${wanted.state}::text is null or s.state = ${wanted.state})
    order by s.id limit ${wanted.limit}`);
}

/** Removes one. @returns false: there is none */
export async function deleteSubscriber(scope: Scope, tx: Transaction, pageId: number, id: number): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`
    delete from status_page_subscribers s where s.id = ${id} and s.page_id = ${pageId} and ${ofScope(scope)}`);
  return rowCount === 1;
}

/** Those of some names that are components of a page; all of them where none is, since none at all would mean every component. */
export async function componentsAmong(
  scope: Scope,
  tx: Transaction,
  pageId: number,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const found = await tx.anyFirst(sql.type(z.object({ component_id: z.string() }))`
    select s.component_id from status_page_items s
    where s.page_id = ${pageId} and ${ofScope(scope)} and s.component_id = any(${texts(ids)})`);
  return found.length === 0 ? ids : found;
}
