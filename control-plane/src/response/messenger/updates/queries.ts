import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { chatIdOf, incomingSchema } from './incoming.ts';
import type { Incoming, Update } from './incoming.ts';

const instant = (ms: number) => sql.timestamp(new Date(ms));

/** What still waits of one chat; whoever writes more than that is not heard until something was done. */
const mostWaiting = 50;

/**
 * Keeps what the bot was told; an update that is known is not kept again. Of a chat with too much waiting, commands and buttons are dropped.
 * For requests too, whose login may only write here.
 */
export async function keepUpdates(
  connection: CommonQueryMethods,
  botId: number,
  updates: readonly Update[],
  nowMs: number,
): Promise<void> {
  const rows = updates.flatMap(({ updateId, incoming }) =>
    incoming === null ? [] : [[botId, updateId, chatIdOf(incoming), JSON.stringify(incoming)]],
  );
  if (rows.length === 0) return;
  await connection.query(sql.unsafe`
    insert into messenger_updates (bot_id, update_id, chat_id, payload, due_at, created_at)
    select bot_id, update_id, chat_id, payload::jsonb, ${instant(nowMs)}, ${instant(nowMs)}
    from ${sql.unnest(rows, ['int8', 'int8', 'int8', 'text'])} as told (bot_id, update_id, chat_id, payload)
    on conflict do nothing`);
}

const answersSchema = z.array(z.object({ method: z.string(), params: z.record(z.string(), z.unknown()) }));
/** A call of the Bot API that is to be made. */
export type Answer = z.output<typeof answersSchema>[number];

const claimed = z.object({
  id: z.bigint(),
  chat_id: z.bigint().transform(Number),
  payload: incomingSchema,
  answers: answersSchema.nullable(),
  attempts: z.number(),
});
/** An update that is to be acted upon, or, where `answers` are there, to be answered. */
export type ClaimedUpdate = z.output<typeof claimed>;

/** A claim that was not finished, because its process died, is given to another one. */
const leaseMs = 60_000;

/** Claims what is due: of each chat the oldest, where nothing of it is in hands and the chat may be written to. */
export async function claimUpdates(
  worker: DatabasePool,
  botId: number,
  nowMs: number,
  limit: number,
): Promise<readonly ClaimedUpdate[]> {
  const now = instant(nowMs);
  return worker.any(sql.type(claimed)`
    update messenger_updates u set leased_until = ${instant(nowMs + leaseMs)}, attempts = u.attempts + 1
    from (
      select w.id from messenger_updates w left join messenger_pace p on p.chat_id = w.chat_id
      where w.done_at is null and w.bot_id = ${botId} and w.due_at <= ${now}
        and (w.leased_until is null or w.leased_until <= ${now})
        and (p.free_at is null or p.free_at <= ${now})
        and not exists (
          select from messenger_updates e
          where e.chat_id = w.chat_id and e.bot_id = w.bot_id and e.done_at is null and e.id < w.id)
      order by w.id limit ${limit} for update of w skip locked
    ) due
    where u.id = due.id
    returning u.id, u.chat_id, u.payload, u.answers, u.attempts`);
}

/** Drops the commands and buttons of chats that wait behind too many others. */
export async function dropFlood(worker: DatabasePool, nowMs: number): Promise<void> {
  await worker.query(sql.unsafe`
    update messenger_updates u set done_at = ${instant(nowMs)}, answers = '[]'
    from (
      select id, row_number() over (partition by chat_id order by id) as place from messenger_updates
      where done_at is null and payload->>'kind' in ('command', 'button')
    ) w
    where w.id = u.id and w.place > ${mostWaiting} and u.done_at is null`);
}

/** Notes what is still to be sent; done when nothing is. */
export async function writeAnswers(
  worker: DatabasePool,
  id: bigint,
  answers: readonly Answer[],
  at: { readonly nowMs: number; readonly dueMs: number },
): Promise<void> {
  await worker.query(sql.unsafe`
    update messenger_updates set answers = ${JSON.stringify(answers)}::jsonb, leased_until = null, due_at = ${instant(at.dueMs)},
      done_at = ${answers.length === 0 ? instant(at.nowMs) : null}
    where id = ${id}`);
}

/** Puts an update back, to be tried again. */
export async function putBack(worker: DatabasePool, id: bigint, dueMs: number): Promise<void> {
  await worker.query(sql.unsafe`
    update messenger_updates set leased_until = null, due_at = ${instant(dueMs)} where id = ${id}`);
}

/** What waits of a group whose number has changed goes to the new one. */
export async function moveWaiting(worker: CommonQueryMethods, fromChatId: number, toChatId: number): Promise<void> {
  await worker.query(sql.unsafe`
    update messenger_updates set chat_id = ${toChatId},
      answers = (
        select jsonb_agg(case when a->'params'->>'chat_id' = ${String(fromChatId)}
          then jsonb_set(a, '{params,chat_id}', to_jsonb(${toChatId}::bigint)) else a end order by place)
        from jsonb_array_elements(answers) with ordinality as each (a, place))
    where chat_id = ${fromChatId} and done_at is null and payload->>'kind' in ('command', 'button')`);
}

/** Removes what was done two days ago, and what nobody could do anything about. */
export async function removeOldUpdates(worker: DatabasePool, nowMs: number): Promise<void> {
  await worker.query(sql.unsafe`
    delete from messenger_updates where id in (
      select id from messenger_updates where done_at < ${instant(nowMs - 172_800_000)} limit 5000)`);
  await worker.query(sql.unsafe`delete from messenger_pace where free_at < ${instant(nowMs - 3_600_000)}`);
  await worker.query(sql.unsafe`delete from messenger_link_tokens where expires_at < ${instant(nowMs)}`);
}

export type { Incoming };
