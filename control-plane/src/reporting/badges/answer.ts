import { badgeKindsOf } from '@parallax/api-contract';
import type { Badge, BadgeKind } from '@parallax/api-contract';
import type { BadgeRow } from './badges.queries.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

/** A badge as the API answers it. @param key null: it is not shown to the reader */
export function answerOf(row: BadgeRow, key: string | null, publicUrl: string): Badge {
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    type: row.type,
    subject_id: row.subject_id,
    name: row.name,
    key,
    urls: key === null ? null : urlsOf(row, `${publicUrl}/badge/${key}`),
    created_at: iso(row.created_at),
    rotated_at: row.rotated_at === null ? null : iso(row.rotated_at),
  };
}

function urlsOf({ type }: BadgeRow, base: string): NonNullable<Badge['urls']> {
  const forms = (kind: BadgeKind) => ({ svg: `${base}/${kind}.svg`, json: `${base}/${kind}.json` });
  const has = (kind: BadgeKind): boolean => badgeKindsOf[type].includes(kind);
  return {
    status: forms('status'),
    uptime: forms('uptime'),
    latency: has('latency') ? forms('latency') : null,
    certificate: has('certificate') ? forms('certificate') : null,
  };
}
