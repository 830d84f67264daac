import type pg from 'pg';
import { atMicroseconds } from '../status-ranges/index.ts';
import type { SeenFacts } from './read-facts.ts';

/**
 * Writes when certificates and domains end, as probes saw it. Part of the ingest's transaction; the rows of a monitor are written by the owner
 * of its shard only. No monitor is locked: whoever deletes or pauses one never waits for this.
 */
export async function writeExpiries(client: pg.ClientBase, seen: readonly SeenFacts[]): Promise<void> {
  const ends = seen.flatMap(({ facts, ...row }) => [
    ...(facts.certificateEndsMs === undefined ? [] : [{ ...row, kind: 'certificate', ms: facts.certificateEndsMs }]),
    ...(facts.domainEndsMs === undefined ? [] : [{ ...row, kind: 'domain', ms: facts.domainEndsMs }]),
  ]);
  if (ends.length === 0) return;
  await client.query(
    `insert into monitor_expiries as known (monitor_id, kind, probe_id, probe_revision, not_after, seen_at)
     select monitor_id, kind, probe_id, probe_revision, to_timestamp(not_after_ms / 1000.0), ${atMicroseconds('seen_us')}
     from unnest($1::integer[], $2::text[], $3::integer[], $4::integer[], $5::bigint[], $6::bigint[])
       as seen (monitor_id, kind, probe_id, probe_revision, not_after_ms, seen_us)
     on conflict (monitor_id, kind, probe_id) do update
       set probe_revision = excluded.probe_revision, not_after = excluded.not_after, seen_at = excluded.seen_at,
         look_at = '-infinity'
       where excluded.seen_at > known.seen_at`,
    [
      ends.map((end) => end.monitorId),
      ends.map((end) => end.kind),
      ends.map((end) => end.voter),
      ends.map((end) => end.probeRevision),
      ends.map((end) => end.ms),
      ends.map((end) => Math.round(end.eUs)),
    ],
  );
}
