import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { paceAfter } from './pace.ts';

const instant = (ms: number) => sql.timestamp(new Date(ms));

/** Counts a sending to a chat that begins now. Only whoever has claimed the chat's oldest update sends to it. */
export async function countSending(worker: DatabasePool, chatId: number, nowMs: number): Promise<void> {
  await worker.transaction(async (tx) => {
    const sentMs = await tx.maybeOneFirst(sql.type(z.object({ sent: z.array(z.number()) }))`
      select array(select extract(epoch from at) * 1000 from unnest(sent_at) at order by at)::float8[] as sent
      from messenger_pace where chat_id = ${chatId} for update`);
    const pace = paceAfter(sentMs ?? [], nowMs);
    const times = sql.array(
      pace.sentMs.map((ms) => new Date(ms).toISOString()),
      'timestamptz',
    );
    await tx.query(sql.unsafe`
      insert into messenger_pace (chat_id, sent_at, free_at) values (${chatId}, ${times}, ${instant(pace.freeMs)})
      on conflict (chat_id) do update set sent_at = excluded.sent_at, free_at = greatest(messenger_pace.free_at, excluded.free_at)`);
  });
}

/** Nothing goes to a chat before that. */
export async function holdChat(worker: DatabasePool, chatId: number, untilMs: number): Promise<void> {
  await worker.query(sql.unsafe`
    insert into messenger_pace (chat_id, free_at) values (${chatId}, ${instant(untilMs)})
    on conflict (chat_id) do update set free_at = greatest(messenger_pace.free_at, excluded.free_at)`);
}

/** Notes that the bot may have no more business in some groups. For requests too, whose login may only write here. */
export async function beginDeparture(connection: CommonQueryMethods, chatIds: readonly number[]): Promise<void> {
  if (chatIds.length === 0) return;
  const rows = chatIds.map((id) => [id]);
  await connection.query(sql.unsafe`
    insert into messenger_departures (chat_id) select chat_id from ${sql.unnest(rows, ['int8'])} as each (chat_id)
    on conflict do nothing`);
}

const departure = z.object({ chat_id: z.bigint().transform(Number), attempts: z.number() });

/** Claims groups that nobody uses; those that are used after all are forgotten. */
export async function claimDepartures(
  worker: DatabasePool,
  nowMs: number,
  retryMs: number,
): Promise<readonly z.output<typeof departure>[]> {
  await worker.query(sql.unsafe`
    delete from messenger_departures d where exists (select from messenger_groups g where g.chat_id = d.chat_id)`);
  return worker.any(sql.type(departure)`
    update messenger_departures set attempts = attempts + 1, due_at = ${instant(nowMs + retryMs)}
    where chat_id in (
      select chat_id from messenger_departures where due_at <= ${instant(nowMs)} order by due_at limit 20 for update skip locked)
    returning chat_id, attempts`);
}

/** The bot has left, or was out already. */
export async function endDeparture(worker: CommonQueryMethods, chatId: number): Promise<void> {
  await worker.query(sql.unsafe`delete from messenger_departures where chat_id = ${chatId}`);
}

/** Two that link the same person or group wait for each other until the transaction ends. */
export async function lockChat(tx: Transaction, chatId: number): Promise<void> {
  await tx.query(
    sql.unsafe`select pg_advisory_xact_lock(hashtextextended('messenger ' || ${String(chatId)}::text, 0))`,
  );
}
