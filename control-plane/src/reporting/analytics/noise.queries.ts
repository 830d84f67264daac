import type { NoisiestMonitors } from '@parallax/api-contract';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import type { AskedWindow } from './question.ts';

const noiseRow = z.object({
  monitor_id: z.number(),
  workspace_id: z.number(),
  name: z.string(),
  incidents: z.number(),
  messages: z.number(),
  flapping: z.number(),
});

/**
 * Monitors of the scope that made the most noise in a window. Messages are kept for 90 days and events for 30: of longer ago there are none to
 * count.
 */
export async function noisiestMonitors(
  scope: Scope,
  tx: Transaction,
  question: {
    readonly workspaceId: number | undefined;
    readonly metric: NoisiestMonitors['metric'];
    readonly limit: number;
  },
  { fromMs, toMs }: AskedWindow,
): Promise<readonly z.infer<typeof noiseRow>[]> {
  const workspaces = scope.workspaceIds.filter(
    (id) => question.workspaceId === undefined || id === question.workspaceId,
  );
  const of = sql.fragment`workspace_id = any(${sql.array(workspaces, 'int4')})`;
  const [from, to] = [sql.timestamp(new Date(fromMs)), sql.timestamp(new Date(toMs))];
  const metric = sql.identifier([question.metric]);
  return tx.any(sql.type(noiseRow)`
    with noise as (
      select i.subject_id as id, count(distinct i.incident_id) as incidents, 0 as messages, 0 as flapping
      from incident_members i join incidents o on o.id = i.incident_id and o.deleted_at is null
      where i.${of} and i.subject_type = 'monitor' and i.started_at >= ${from} and i.started_at < ${to} group by 1
      union all
      select n.subject_id, 0, count(*), 0 from notifications n
      where n.${of} and n.subject_type = 'monitor' and n.status = 'sent' and n.kind <> 'test'
        and n.created_at >= ${from} and n.created_at < ${to} group by 1
      union all
      select e.subject_id, 0, 0, count(*) from events e
      where e.${of} and e.subject_type = 'monitor' and e.type = 'monitor.flapping' and e.at >= ${from} and e.at < ${to}
        and (e.body::jsonb -> 'data' ->> 'is_flapping')::boolean
      group by 1)
    select m.id as monitor_id, m.workspace_id, m.name, sum(noise.incidents)::integer as incidents, sum(noise.messages)::integer as messages,
      sum(noise.flapping)::integer as flapping
    from noise join monitors m on m.id = noise.id and m.deleted_at is null and m.${of}
    group by m.id having sum(noise.${metric}) > 0
    order by sum(noise.${metric}) desc, sum(noise.incidents + noise.messages + noise.flapping) desc, m.id limit ${question.limit}`);
}
