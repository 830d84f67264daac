import type { DownReason, Heartbeat } from '@parallax/api-contract';
import type { Sealer } from '../../platform/crypto/seal.ts';

/** A heartbeat as it is read. */
export type HeartbeatRow = Omit<
  Heartbeat,
  | 'status_since'
  | 'last_ping_at'
  | 'next_expected_at'
  | 'deadline_at'
  | 'created_at'
  | 'updated_at'
  | 'ping_key'
  | 'uuid'
  | 'ping_url'
  | 'ping_url_by_uuid'
  | 'down_reason'
> & {
  readonly status_since: number;
  readonly reason: DownReason | null;
  readonly last_ping_at: number | null;
  readonly next_expected_at: number | null;
  readonly deadline_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly ping_key: string;
  readonly uuid_hash: Buffer;
  readonly sealed_uuid: Buffer;
};

/** What the uuid of a heartbeat is sealed for: it opens in its own row only. */
export function uuidContext(uuidHash: Buffer): string {
  return `heartbeat uuid ${uuidHash.toString('hex')}`;
}

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

/**
 * A heartbeat as the API answers it.
 * @param shown whether the caller is shown the addresses that take its signals, and those by the ping key of the workspace
 */
export function answerOf(
  row: HeartbeatRow,
  sealer: Pick<Sealer, 'open'>,
  publicUrl: string,
  shown: { readonly uuid: boolean; readonly pingKey: boolean },
): Heartbeat {
  const uuid = shown.uuid ? sealer.open(row.sealed_uuid, uuidContext(row.uuid_hash)).toString() : null;
  const { reason, uuid_hash: _hash, sealed_uuid: _sealed, ping_key: pingKey, ...rest } = row;
  return {
    ...rest,
    down_reason: reason,
    status_since: iso(row.status_since),
    last_ping_at: isoOrNull(row.last_ping_at),
    next_expected_at: isoOrNull(row.next_expected_at),
    deadline_at: isoOrNull(row.deadline_at),
    ping_key: shown.pingKey ? pingKey : null,
    uuid,
    ping_url: shown.pingKey ? `${publicUrl}/api/v1/ping/${pingKey}/${row.slug}` : null,
    ping_url_by_uuid: uuid === null ? null : `${publicUrl}/ping/${uuid}`,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}
