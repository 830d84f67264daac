import { badgeKindsOf } from '@parallax/api-contract';
import type { BadgeKind } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { certificateEnd } from '../../../monitoring/expiry/index.ts';
import { heartbeatFigures } from '../../../monitoring/heartbeats/index.ts';
import { webhookCheckFigures } from '../../../monitoring/webhook-checks/index.ts';
import { randomKeyHash } from '../../../platform/crypto/random-key.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { percentOf } from '../../../platform/figures.ts';
import {
  findSubject,
  lastHours,
  latencyFigures,
  readAvailability,
  readSummary,
  windowOf,
} from '../../statistics/index.ts';
import { readPageUptime, shownPage, subjectStatus } from '../../status-pages/index.ts';
import { badgeOfKey } from '../badges.queries.ts';
import type { FoundBadge } from '../badges.queries.ts';
import type { BadgeFacts } from '../picture/badge-text.ts';
import type { ReadBadge } from './badge-cache.ts';
import type { AskedBadge } from './badge-server.ts';

const hourMs = 3_600_000;

/** What a badge tells now. @returns null: there is no such badge, or its subject has no such figure or is gone */
export async function readBadge(context: Context, { key, kind, hours }: AskedBadge): Promise<ReadBadge | null> {
  const found = await badgeOfKey(context.database.api, randomKeyHash(key));
  if (found === null || !badgeKindsOf[found.type].includes(kind)) return null;
  if (found.type === 'page') return readPageBadge(context, found, kind, hours);
  const facts = await factsOf(context, found, kind, hours);
  return facts === null ? null : { id: found.id, facts };
}

/** What a published page shows itself, to those who may read it. */
async function readPageBadge(
  context: Context,
  { id, subject_id: pageId, workspace_id: workspaceId, slug }: FoundBadge,
  kind: BadgeKind,
  hours: number,
): Promise<ReadBadge | null> {
  const shown = slug === null ? null : await shownPage(context, slug);
  // Its slug may have become that of another page meanwhile.
  if (shown === null || shown.found.pageId !== pageId) return null;
  const page = { pageId, access: shown.found.access };
  if (kind !== 'uptime') return { id, page, facts: { kind: 'page', indicator: shown.view.indicator } };
  const uptime = await readPageUptime(context, { pageId, workspaceId }, hours, context.now());
  return uptime === null ? null : { id, page, facts: { kind, ...uptime } };
}

/** What the API tells the members of a subject. Row-level security lets through its workspace alone. */
async function factsOf(
  context: Context,
  found: FoundBadge,
  kind: BadgeKind,
  hours: number,
): Promise<BadgeFacts | null> {
  const scope: Scope = { userId: null, workspaceIds: [found.workspace_id] };
  const nowMs = Math.floor(context.now());
  return inScope(context.database.api, scope, async (tx) => {
    switch (kind) {
      case 'status': {
        const status = await statusOf(scope, tx, found, nowMs);
        return status === null ? null : { kind, status };
      }
      case 'uptime': {
        const percent = await uptimeOf(scope, tx, found, hours, nowMs);
        return percent === undefined ? null : { kind, percent, hours };
      }
      case 'latency': {
        const subject = await findSubject(tx, scope, found.subject_id);
        if (subject === null) return null;
        const summary = await readSummary(tx, subject.id, windowOf(subject, lastHours(hours), nowMs));
        return { kind, ms: latencyFigures(summary.all.latency).p50Ms, hours };
      }
      case 'certificate': {
        const endsMs = await certificateEnd(scope, tx, found.subject_id);
        return endsMs === undefined ? null : { kind, endsMs };
      }
    }
  });
}

async function statusOf(scope: Scope, tx: Transaction, { type, subject_id: id }: FoundBadge, nowMs: number) {
  return type === 'page' ? null : subjectStatus(scope, tx, { type, id }, nowMs);
}

/** Per cent of what was measured, as the statistics of the subject have it; null: nothing was. @returns undefined: the subject is gone */
async function uptimeOf(
  scope: Scope,
  tx: Transaction,
  { type, subject_id: id }: FoundBadge,
  hours: number,
  nowMs: number,
): Promise<number | null | undefined> {
  if (type === 'monitor') {
    const subject = await findSubject(tx, scope, id);
    if (subject === null) return undefined;
    const window = windowOf(subject, lastHours(hours), nowMs);
    return percentOf((await readAvailability(tx, id, window, { listedOutages: 0 })).measured.uptime);
  }
  const window = { fromMs: nowMs - hours * hourMs, toMs: nowMs };
  if (type === 'heartbeat') return (await heartbeatFigures(scope, tx, [id], window)).at(0)?.uptime;
  return (await webhookCheckFigures(scope, tx, [id], window)).at(0)?.uptime_percent;
}
