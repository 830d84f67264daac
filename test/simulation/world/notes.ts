import type { Trace } from '../engine/trace.ts';
import type { RoundWrite } from '../models/database/results.ts';

/** Notes everything that a round has written. */
export function noteRound(trace: Trace, nowUs: number, write: RoundWrite): void {
  trace.note(
    nowUs,
    'committed',
    write.shard,
    write.term,
    write.rows.length,
    write.edits.length,
    write.foldedUntilUs ?? 0,
  );
  for (const row of write.rows) trace.note(row.eUs, 'row', row.monitorId, row.voter, row.outcome, row.dnsUs ?? 0);
  for (const edit of write.edits) {
    const change = edit.op === 'delete' ? [] : [edit.status ?? '', edit.endedUs ?? 0];
    trace.note(edit.startedUs, edit.op, edit.monitorId, edit.voter ?? -1, ...change);
  }
  for (const { monitorId, status, sinceUs, announced } of write.statuses)
    trace.note(sinceUs, 'status', monitorId, status, announced ?? 'told');
  for (const { kind, payload } of write.outbox) trace.note(nowUs, kind, JSON.stringify(payload).slice(0, 200));
}
