import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { History } from './history.ts';

/** A monitor with what is remembered of it; no history: it is calm. */
export type Remembered = {
  readonly monitorId: number;
  readonly workspaceId: number;
  readonly intervalMs: number;
  readonly history: History | undefined;
  readonly isFlapping: boolean;
};

const row = z.object({
  id: z.number(),
  workspace_id: z.number(),
  interval_seconds: z.number(),
  states: z.string().nullable(),
  state_at: z.number().nullable(),
  is_flapping: z.boolean(),
});

/**
 * Monitors as transitions find them, by number, held until the end of the transaction: neither are they paused, reset or deleted meanwhile (those
 * lock them for update), nor does anybody else change what is remembered. Without those that are paused or deleted by now, or were reset after their
 * transition.
 * @param atMs when each has changed, by number
 */
export async function remember(
  transaction: Transaction,
  atMs: ReadonlyMap<number, number>,
): Promise<ReadonlyMap<number, Remembered>> {
  const ids = sql.array([...atMs.keys()], 'int4');
  const rows = [...atMs].map(([id, ms]) => [id, new Date(ms).toISOString()]);
  await transaction.query(sql.unsafe`select from monitors where id = any(${ids}) order by id for key share`);
  await transaction.query(
    sql.unsafe`select from flapping where monitor_id = any(${ids}) order by monitor_id for update`,
  );
  const found = await transaction.any(sql.type(row)`
    select m.id, m.workspace_id, m.interval_seconds, f.states, f.state_at, f.flapping_since is not null as is_flapping
    from ${sql.unnest(rows, ['int4', 'timestamptz'])} as g (monitor_id, at) join monitors m on m.id = g.monitor_id
      left join flapping f on f.monitor_id = m.id
    where m.deleted_at is null and m.is_active
      and not exists (select from pauses p where p.monitor_id = m.id and p.ended_at is null) and coalesce(m.reset_at <= g.at, true)`);
  return new Map(found.map((each) => [each.id, rememberedOf(each)]));
}

/** Monitors of which something has to be forgotten by now, at most so many; held until the end of the transaction. */
export async function claimCalm(transaction: Transaction, nowMs: number, limit: number): Promise<Remembered[]> {
  const found = await transaction.any(sql.type(row)`
    select m.id, m.workspace_id, m.interval_seconds, f.states, f.state_at, f.flapping_since is not null as is_flapping
    from flapping f join monitors m on m.id = f.monitor_id
    where f.calm_at <= ${instant(nowMs)} order by f.calm_at limit ${limit} for update of f skip locked`);
  return found.map(rememberedOf);
}

/** What is to be remembered of a monitor from now on. */
export type Memory = {
  readonly monitorId: number;
  readonly workspaceId: number;
  readonly history: History;
  readonly isFlapping: boolean;
  /** Since when, where it did not before. */
  readonly sinceMs: number;
  readonly calmAtMs: number;
};

/** Writes what is remembered. Since when a monitor flaps is kept as long as it does. */
export async function writeMemories(transaction: Transaction, memories: readonly Memory[]): Promise<void> {
  if (memories.length === 0) return;
  await transaction.query(sql.unsafe`
    insert into flapping (monitor_id, workspace_id, states, state_at, flapping_since, calm_at)
    select monitor_id, workspace_id, states, state_at, case when flaps then since end, calm_at
    from ${sql.unnest(
      memories.map(({ monitorId, workspaceId, history, isFlapping, sinceMs, calmAtMs }) => [
        monitorId,
        workspaceId,
        history.states,
        new Date(history.atMs).toISOString(),
        isFlapping,
        new Date(sinceMs).toISOString(),
        new Date(calmAtMs).toISOString(),
      ]),
      ['int4', 'int4', 'text', 'timestamptz', 'bool', 'timestamptz', 'timestamptz'],
    )} as memory (monitor_id, workspace_id, states, state_at, flaps, since, calm_at)
    on conflict (monitor_id) do update set states = excluded.states, state_at = excluded.state_at, calm_at = excluded.calm_at,
      flapping_since = case when excluded.flapping_since is not null then coalesce(flapping.flapping_since, excluded.flapping_since) end`);
}

/** Forgets monitors. @returns those of them that flapped */
export async function forget(
  transaction: Transaction,
  monitorIds: readonly number[],
): Promise<readonly { readonly monitorId: number; readonly workspaceId: number }[]> {
  if (monitorIds.length === 0) return [];
  const gone = await transaction.any(
    sql.type(z.object({ monitor_id: z.number(), workspace_id: z.number(), flapped: z.boolean() }))`
      delete from flapping where monitor_id = any (${sql.array([...monitorIds], 'int4')})
      returning monitor_id, workspace_id, flapping_since is not null as flapped`,
  );
  return gone.flatMap((one) => (one.flapped ? [{ monitorId: one.monitor_id, workspaceId: one.workspace_id }] : []));
}

const instant = (ms: number) => sql.fragment`${sql.timestamp(new Date(ms))}`;

function rememberedOf(found: z.infer<typeof row>): Remembered {
  const { states, state_at: atMs } = found;
  return {
    monitorId: found.id,
    workspaceId: found.workspace_id,
    intervalMs: found.interval_seconds * 1_000,
    history: states === null || atMs === null ? undefined : { states, atMs },
    isFlapping: found.is_flapping,
  };
}
