import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';

/** Where alerts arrive, as their targets name it. */
export type NamedPlace = { readonly channel: string; readonly target: string };

/** Whether an alert tells a place by any step, or when others fail. */
const tells = ({ channel, target }: NamedPlace) => sql.fragment`(
  jsonb_path_exists(a.steps, '$[*].targets[*] ? (@.channel == $channel && @.target == $target)',
    jsonb_build_object('channel', ${channel}::text, 'target', ${target}::text))
  or a.failover @> jsonb_build_object('channel', ${channel}::text, 'target', ${target}::text))`;

/** Mutes the active alerts of a workspace that tell a place; null ends that. @returns how many there are. For the worker login */
export async function muteAlertsTelling(
  connection: CommonQueryMethods,
  workspaceId: number,
  place: NamedPlace,
  untilMs: number | null,
): Promise<number> {
  const until = untilMs === null ? null : sql.timestamp(new Date(untilMs));
  const { rowCount } = await connection.query(sql.unsafe`
    update alerts a set muted_until = ${until}, version = version + 1, updated_at = clock_timestamp()
    where a.id = any(array(
      select a.id from alerts a where a.workspace_id = ${workspaceId} and a.is_active and ${tells(place)} order by a.id for update))`);
  return rowCount;
}

/** The owners of alerts that tell a place. For the worker login. */
export async function ownersTelling(connection: CommonQueryMethods, place: NamedPlace): Promise<readonly number[]> {
  return connection.anyFirst(sql.type(z.object({ owner_id: z.number() }))`
    select distinct a.owner_id from alerts a where ${tells(place)} order by a.owner_id`);
}

/** A place has another name now: alerts follow it. For the worker login. */
export async function moveAlertTargets(connection: CommonQueryMethods, from: NamedPlace, to: string): Promise<void> {
  const moved = (target: ReturnType<typeof sql.fragment>) => sql.fragment`
    case when ${target} @> jsonb_build_object('channel', ${from.channel}::text, 'target', ${from.target}::text)
      then jsonb_set(${target}, '{target}', to_jsonb(${to}::text)) else ${target} end`;
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
