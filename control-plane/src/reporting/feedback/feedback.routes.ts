import {
  createFeedbackRoute,
  deleteFeedbackRoute,
  getFeedbackRoute,
  listFeedbackRoute,
  Problem,
  setFeedbackStatusRoute,
} from '@parallax/api-contract';
import type { CreateFeedback, FeedbackAnswer } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { recordAudit } from '../../identity/audit/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import { applyRates } from '../../platform/http/apply-rates.ts';
import { scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../platform/http/handler.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import {
  addressesOf,
  countOfDay,
  deleteFeedback,
  findFeedback,
  insertFeedback,
  listFeedback,
  setStatus,
} from './feedback.queries.ts';
import type { FeedbackRow, FeedbackScope } from './feedback.queries.ts';
import { feedbackReceived, feedbackReplied } from './mails.consumer.ts';

const longestUserAgent = 500;

/** Routes below `/feedback`. */
export function feedbackRoutes(context: Context): readonly Route[] {
  return [
    handle(createFeedbackRoute, async ({ body, caller, request }) => create(context, caller, request, body)),

    handle(listFeedbackRoute, async ({ query: { page, page_size, status, kind }, caller }) => {
      const scope = feedbackScopeOf(caller);
      return inScope(context.database.api, scope, async (transaction) => {
        const wanted = { status: status ?? null, kind: kind ?? null };
        const offset = (page - 1) * page_size;
        const { rows, total } = await listFeedback(scope, transaction, { ...wanted, limit: page_size, offset });
        return { feedback: await answersOf(scope, transaction, rows), total, page, page_size };
      });
    }),

    handle(getFeedbackRoute, async ({ params: { id }, caller }) => {
      const scope = feedbackScopeOf(caller);
      return inScope(context.database.api, scope, async (transaction) => {
        const row = await findFeedback(scope, transaction, id);
        if (row === null) throw notFound(id);
        return answerWithAddress(scope, transaction, row);
      });
    }),

    handle(setFeedbackStatusRoute, async ({ params: { id }, body, caller, request }) => {
      const scope = administratorScopeOf(caller);
      return inScope(context.database.api, scope, async (transaction) => {
        const row = await setStatus(scope, transaction, id, body, context.now());
        if (row === null) throw notFound(id);
        if (row.has_new_reply) {
          const payload = { id, replied_at: row.replied_at };
          await enqueue(transaction, { key: `feedback:${id}`, kind: feedbackReplied, payload });
        }
        const event = { action: 'feedback.status_set', subjectType: 'feedback', subjectId: id };
        const detail = { status: row.status, replied: row.has_new_reply };
        await recordAudit(transaction, caller, request, { ...event, detail });
        return answerWithAddress(scope, transaction, row);
      });
    }),

    handle(deleteFeedbackRoute, async ({ params: { id }, caller, request }) => {
      const scope = administratorScopeOf(caller);
      await inScope(context.database.api, scope, async (transaction) => {
        if (!(await deleteFeedback(scope, transaction, id))) throw notFound(id);
        const event = { action: 'feedback.deleted', subjectType: 'feedback', subjectId: id };
        await recordAudit(transaction, caller, request, event);
      });
    }),
  ];
}

async function create(
  context: Context,
  caller: Caller,
  request: RequestFacts,
  body: CreateFeedback,
): Promise<FeedbackAnswer> {
  const scope = scopeOf(caller);
  return inScope(context.database.api, scope, async (transaction) => {
    const nowMs = context.now();
    const rate = context.limits.rate('feedback');
    const { sent, oldestMs } = await countOfDay(scope, transaction, nowMs);
    const resetSeconds = rate.windowSeconds - (nowMs - (oldestMs ?? nowMs)) / 1_000;
    applyRates(
      request.reply,
      [{ ...rate, used: sent + 1, resetSeconds: Math.max(1, resetSeconds) }],
      'items of feedback',
      'of this account',
    );
    const userAgent = request.userAgent?.slice(0, longestUserAgent) ?? null;
    const row = await insertFeedback(scope, transaction, body, { version: context.version, userAgent, nowMs });
    await enqueue(transaction, { key: 'feedback', kind: feedbackReceived, payload: {} });
    const event = { action: 'feedback.created', subjectType: 'feedback', subjectId: row.id };
    await recordAudit(transaction, caller, request, { ...event, detail: { kind: row.kind } });
    return answerOf(row, null);
  });
}

function feedbackScopeOf(caller: Caller): FeedbackScope {
  return { ...scopeOf(caller), isAdministrator: caller.isAdministrator };
}

/** @throws Problem `forbidden` */
function administratorScopeOf(caller: Caller): FeedbackScope {
  if (!caller.isAdministrator) throw new Problem('forbidden', 'this needs an administrator of the installation');
  return feedbackScopeOf(caller);
}

const notFound = (id: number): Problem => new Problem('not_found', `there is no feedback ${id}`);

async function answerWithAddress(
  scope: FeedbackScope,
  transaction: Transaction,
  row: FeedbackRow,
): Promise<FeedbackAnswer> {
  const addresses = await addressesOf(scope, transaction, [row.id]);
  return answerOf(row, addresses.get(row.id) ?? null);
}

async function answersOf(
  scope: FeedbackScope,
  transaction: Transaction,
  rows: readonly FeedbackRow[],
): Promise<FeedbackAnswer[]> {
  const addresses = await addressesOf(
    scope,
    transaction,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => answerOf(row, addresses.get(row.id) ?? null));
}

const iso = (ms: number): string => new Date(ms).toISOString();

function answerOf(row: FeedbackRow, email: string | null): FeedbackAnswer {
  return {
    id: row.id,
    user_id: row.user_id,
    email,
    kind: row.kind,
    message: row.message,
    page: row.page,
    may_contact: row.may_contact,
    version: row.version,
    user_agent: row.user_agent,
    status: row.status,
    reply: row.reply,
    replied_at: row.replied_at === null ? null : iso(row.replied_at),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}
