import { tellNews } from '../../../control-plane/src/reporting/status-pages/subscribers/news/news.job.ts';
import type { startDatabase } from '../database.ts';
import type { Figures } from '../report.ts';
import type { FilledPage } from './fill.ts';

/** An incident of a page with many subscribers by mail: how long it takes until a message waits for each, and no second one. */
export async function queueForSubscribers(
  { worker: pool, all }: Awaited<ReturnType<typeof startDatabase>>,
  { pageId, workspaceId }: FilledPage,
  subscribers: number,
): Promise<Figures> {
  await pool.query(
    `insert into status_page_subscribers (workspace_id, page_id, kind, target_sealed, target_hash, locale, state, token_hash, token_sealed, active_at)
     select $1, $2, 'email', '', sha256(n::text::bytea), 'en', 'active', sha256(('t' || n)::bytea), '', now()
     from generate_series(1, $3::integer) as n`,
    [workspaceId, pageId, subscribers],
  );
  await pool.query('analyze status_page_subscribers');
  const errors: unknown[] = [];
  const context = { database: all, now: Date.now };
  const look = async (): Promise<number> => tellNews(context, { warn: (of: unknown) => void errors.push(of) }, null);
  // What the page has told before they came is none of theirs.
  await look();
  await pool.query(
    `with made as (
       insert into incidents (workspace_id, title, status, severity, started_at) values ($1, 'x', 'open', 'major', clock_timestamp())
       returning id, started_at)
     insert into incident_members (workspace_id, incident_id, subject_type, subject_id, name, title, started_at, is_manual)
     select $1, made.id, 'monitor', i.monitor_id, 'x', 'x', made.started_at, false
     from made, (
       select i.monitor_id from status_page_items i
       where i.page_id = $2 and i.monitor_id is not null and not exists (
         select from incident_members u where u.subject_type = 'monitor' and u.subject_id = i.monitor_id and u.ended_at is null)
       limit 1) i`,
    [workspaceId, pageId],
  );
  const beganMs = performance.now();
  const queued = await look();
  const tookMs = performance.now() - beganMs;
  const again = await look();
  if (errors.length > 0) throw new Error('news could not be queued', { cause: errors[0] });
  if (queued !== subscribers || again !== 0)
    throw new Error(`${queued} messages wait for ${subscribers} subscribers, and ${again} more`);
  return { subscribers_queued_ms: Math.round(tookMs) };
}
