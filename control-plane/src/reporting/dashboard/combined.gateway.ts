import { Problem } from '@parallax/api-contract';
import type { DashboardCombined, DashboardPart } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { requireRole } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { DashboardReader } from './reader.gateway.ts';

/**
 * All parts side by side, each in a transaction of its own. A part that fails is null and named; the others are answered.
 * @throws Problem `not_found` for a foreign workspace
 */
export async function readAll(
  context: Pick<Context, 'log' | 'now'>,
  read: DashboardReader,
  caller: Caller,
  query: { readonly workspace_id?: number | undefined; readonly hours: number; readonly limit: number },
): Promise<DashboardCombined> {
  if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
  const errors: DashboardCombined['errors'] = [];
  const orNull = async <Answer>(part: DashboardPart, answer: Promise<Answer>): Promise<Answer | null> => {
    try {
      return await answer;
    } catch (error) {
      context.log.warn({ err: error, part }, 'a part of the dashboard could not be read');
      const code = error instanceof Problem ? error.code : 'internal';
      errors.push({ part, code, message: 'this part could not be read; try again later' });
      return null;
    }
  };
  const [stats, uptime, alerts, incidents] = await Promise.all([
    orNull('stats', read.stats(caller, query)),
    orNull('uptime_summary', read.uptime_summary(caller, query)),
    orNull('alerts_summary', read.alerts_summary(caller, query)),
    orNull('incidents', read.incidents(caller, query)),
  ]);
  const times = [stats, uptime, alerts, incidents].flatMap((part) => (part === null ? [] : [part.as_of]));
  return {
    // The age of the oldest part.
    as_of: times.toSorted().at(0) ?? new Date(context.now()).toISOString(),
    workspace_id: query.workspace_id ?? null,
    stats,
    uptime_summary: uptime,
    alerts_summary: alerts,
    incidents,
    errors,
  };
}
