import { errorCodeOf } from '@parallax/checks';
import { unpackFlags } from '@parallax/wire';
import { lateFlag } from '../../../control-plane/src/monitoring/check-results/flags.ts';
import type { IngestRow } from '../../../control-plane/src/monitoring/check-results/ingest/rows.ts';
import { isFallback, iso, ms } from './reference-figures.ts';
import type { Subject, Window } from './reference-figures.ts';

/* What lists must show of a monitor, item by item. */

function ownStatusAt({ timeline }: Subject, { voter, eUs }: IngestRow): string | undefined {
  const own = timeline.ownRanges.get(voter) ?? [];
  let low = 0;
  let high = own.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((own[middle]?.fromUs ?? 0) <= eUs) low = middle + 1;
    else high = middle;
  }
  const range = own[low - 1];
  return range !== undefined && eUs < range.toUs ? range.status : undefined;
}

function statusOf(subject: Subject, row: IngestRow): string {
  const { kind, outcome } = row;
  if (outcome === 'ok') return 'UP';
  if (outcome === 'slow') return 'DEGRADED';
  if (outcome === 'warn') return 'WARNING';
  if (outcome === 'skipped') return 'skipped';
  if (outcome === 'probe_error') return 'UNKNOWN';
  const own = ownStatusAt(subject, row);
  if (kind !== 'manual' && own !== 'DOWN' && own !== 'TIMEOUT') return 'transient';
  return outcome === 'fail' ? 'DOWN' : 'TIMEOUT';
}

const timeOf = ({ outcome, totalUs }: IngestRow): number | null =>
  outcome === 'skipped' || outcome === 'probe_error' ? null : totalUs / 1_000;
const orNull = (us: number | undefined): number | null => (us === undefined ? null : us / 1_000);

/** A result as GET /results lists it. */
export function resultAnswer(subject: Subject, row: IngestRow) {
  return {
    created_at: iso(ms(row.eUs)),
    received_at: iso(ms(row.receivedUs)),
    probe_id: row.voter === 0 ? null : row.voter,
    kind: row.kind,
    is_manual: row.kind === 'manual',
    is_fallback: isFallback(row),
    is_late: (row.flags & lateFlag) !== 0,
    probe_revision: row.probeRevision,
    status: statusOf(subject, row),
    outcome: row.outcome,
    failure_source: unpackFlags(row.flags & 255)?.source ?? null,
    response_time_ms: timeOf(row),
    phases: {
      dns_ms: orNull(row.dnsUs),
      connect_ms: orNull(row.connectUs),
      tls_ms: orNull(row.tlsUs),
      first_byte_ms: orNull(row.firstByteUs),
      transfer_ms: orNull(row.transferUs),
    },
    error_code: errorCodeOf(row.error) ?? null,
    message: row.evidence?.message ?? null,
    evidence: row.evidence === undefined ? null : (JSON.parse(row.evidence.json) as unknown),
  };
}

/** Those that a filter leaves, newest first. Bounds are inclusive and of whole milliseconds. */
export function resultsOf({ rows }: Subject, startMs = 0, endMs = Number.POSITIVE_INFINITY): IngestRow[] {
  return rows.filter(({ eUs }) => ms(eUs) >= startMs && ms(eUs) <= endMs).toReversed();
}

export function rangeAnswers({ timeline, foldedMs }: Subject) {
  return timeline.ranges.map(({ fromUs, toUs, status }) => ({
    started_at: iso(ms(fromUs)),
    ended_at: toUs > foldedMs * 1_000 ? null : iso(ms(toUs)),
    status,
  }));
}

type Entry = ReturnType<typeof entryOf> & { timesMs: number[] };

function entryOf(subject: Subject, row: IngestRow) {
  const at = iso(ms(row.eUs));
  return {
    started_at: at,
    ended_at: at,
    status: statusOf(subject, row),
    response_time_ms: timeOf(row),
    probe_id: row.voter === 0 ? null : row.voter,
    is_manual: row.kind === 'manual',
    is_fallback: isFallback(row),
    count: 1,
  };
}

/** The timeline by results, oldest first; neighbours that look the same are one where there are more than 10,000. */
export function entriesOf(subject: Subject, window: Window, probeId: number | undefined, includeManual: boolean) {
  const isByHand = (row: IngestRow): boolean => row.kind === 'manual' || isFallback(row);
  const isShown = (row: IngestRow): boolean =>
    probeId === undefined ||
    (row.voter === probeId && (includeManual || !isByHand(row))) ||
    (includeManual && row.voter === 0 && isByHand(row));
  const rows = subject.rows.filter((row) => ms(row.eUs) >= window.fromMs && ms(row.eUs) <= window.toMs).filter(isShown);
  if (rows.length <= 10_000) return { merged: false, timeline: rows.map((row) => entryOf(subject, row)) };
  const entries: Entry[] = [];
  for (const row of rows) {
    const entry = entryOf(subject, row);
    const last = entries.at(-1);
    const isSame =
      last !== undefined &&
      last.status === entry.status &&
      last.probe_id === entry.probe_id &&
      last.is_manual === entry.is_manual &&
      last.is_fallback === entry.is_fallback;
    const open = isSame ? last : { ...entry, count: 0, timesMs: [] };
    if (!isSame) entries.push(open);
    open.ended_at = entry.ended_at;
    open.count += 1;
    if (entry.response_time_ms !== null) open.timesMs.push(entry.response_time_ms);
  }
  return {
    merged: true,
    timeline: entries.map(({ timesMs, ...entry }) => ({
      ...entry,
      response_time_ms:
        timesMs.length === 0
          ? null
          : Math.round((timesMs.reduce((sum, one) => sum + one, 0) / timesMs.length) * 1_000) / 1_000,
    })),
  };
}
