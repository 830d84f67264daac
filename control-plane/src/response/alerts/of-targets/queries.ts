import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';

/** Where alerts arrive, as their targets name it: `target` itself, and whatever stands behind it and a colon, such as a topic of a group. */
export type NamedPlace = { readonly channel: string; readonly target: string };

/** Every target of an alert, of its steps and for when others fail: rows of `value`. */
const targetsOf = sql.fragment`(
  select t.value from jsonb_array_elements(a.steps) as s (step), jsonb_array_elements(s.step->'targets') as t (value)
  union all select a.failover)`;

const isThere = (value: ReturnType<typeof sql.fragment>, { channel, target }: NamedPlace) => sql.fragment`
  (${value}->>'channel' = ${channel} and (${value}->>'target' = ${target} or starts_with(${value}->>'target', ${`${target}:`})))`;

const tells = (place: NamedPlace) => sql.fragment`
  exists (select from ${targetsOf} named where ${isThere(sql.fragment`named.value`, place)})`;

/** Mutes the active alerts of a workspace that tell a place; null ends that. @returns how many there are. For the worker login */
export async function muteAlertsTelling(
  connection: CommonQueryMethods,
  workspaceId: number,
  place: NamedPlace,
  untilMs: number | null,
): Promise<number> {
  const until = untilMs === null ? null : sql.timestamp(new Date(untilMs));
  const { rowCount } = await connection.query(sql.unsafe`
    update alerts set muted_until = ${until}, version = version + 1, updated_at = clock_timestamp()
    where id = any(array(
      select a.id from alerts a where a.workspace_id = ${workspaceId} and a.is_active and ${tells(place)} order by a.id for update))`);
  return rowCount;
}

const named = z.object({ owner_id: z.number(), target: z.string() });

/** The targets that name a place, and whose alerts they are of. For the worker login. */
export async function targetsAt(
  connection: CommonQueryMethods,
  place: NamedPlace,
): Promise<readonly { readonly ownerId: number; readonly target: string }[]> {
  const rows = await connection.any(sql.type(named)`
    select distinct a.owner_id, each.value->>'target' as target
    from alerts a cross join lateral ${targetsOf} each where ${isThere(sql.fragment`each.value`, place)} order by 1, 2`);
  return rows.map(({ owner_id: ownerId, target }) => ({ ownerId, target }));
}

/** A place has another name now: alerts follow it. For the worker login. */
export async function moveAlertTargets(connection: CommonQueryMethods, from: NamedPlace, to: string): Promise<void> {
  const moved = (value: ReturnType<typeof sql.fragment>) => sql.fragment`
    case when ${isThere(value, from)}
      then jsonb_set(${value}, '{target}', to_jsonb(${to}::text || substr(${value}->>'target', ${from.target.length + 1})))
      else ${value} end`;
  await connection.query(sql.unsafe`
    update alerts a set
      steps = (
        select jsonb_agg(jsonb_set(step, '{targets}', (
          select jsonb_agg(${moved(sql.fragment`target`)} order by place)
          from jsonb_array_elements(step->'targets') with ordinality as of_step (target, place)
        )) order by number)
        from jsonb_array_elements(a.steps) with ordinality as of_alert (step, number)),
      failover = ${moved(sql.fragment`a.failover`)}, version = version + 1, updated_at = clock_timestamp()
    where ${tells(from)}`);
}
