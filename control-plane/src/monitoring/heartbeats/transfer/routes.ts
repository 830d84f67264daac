import { importHeartbeatsRoute, Problem } from '@parallax/api-contract';
import type { HeartbeatImportRow } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { configured } from '../change.ts';
import { makeHeartbeat, newCredentials, record } from '../gateway.ts';
import type { Actor } from '../gateway.ts';
import { slugOf } from '../make.ts';
import { readChecks } from './checks.ts';
import type { ImportedCheck } from './checks.ts';

/** Heartbeats from a file of another tool. */
export function importRoutes(context: Context): Route[] {
  return [
    handle(importHeartbeatsRoute, async ({ query, caller, request, file }) => {
      requireRole(caller, query.workspace_id, 'editor');
      const read = readChecks(file.bytes);
      const scope = scopeOf(caller);
      const rows: HeartbeatImportRow[] = [];
      await takingBackTrials(() =>
        inScope(context.database.api, scope, async (tx) => {
          for (const [index, check] of read.checks.entries()) {
            const made = await importOne(context, { caller, request }, scope, tx, query.workspace_id, check);
            const { heartbeat_id: _id, ...trial } = made;
            rows.push({ row: index + 1, ...(query.dry_run ? trial : made) });
          }
          if (query.dry_run) throw new TakenBack();
          const created = rows.filter(({ status }) => status === 'created').length;
          if (created === 0) return;
          await recordAudit(tx, caller, request, {
            action: 'heartbeats.imported',
            workspaceId: query.workspace_id,
            subjectType: 'workspace',
            subjectId: query.workspace_id,
            detail: { format: read.format, rows: rows.length, created },
          });
        }),
      );
      const count = (status: HeartbeatImportRow['status']) => rows.filter((row) => row.status === status).length;
      return {
        dry_run: query.dry_run,
        format: read.format,
        total: rows.length,
        created: count('created'),
        skipped: count('skipped'),
        failed: count('failed'),
        rows,
      };
    }),
  ];
}

/** Ends the transaction of a trial, which writes like any other import and is taken back as a whole. */
class TakenBack extends Error {
  override readonly name = 'TakenBack';
}

async function takingBackTrials(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof TakenBack)) throw error;
  }
}

async function importOne(
  context: Context,
  actor: Actor,
  scope: Scope,
  tx: Transaction,
  workspaceId: number,
  check: ImportedCheck,
): Promise<Omit<HeartbeatImportRow, 'row'>> {
  const { name, warnings } = check;
  const told = { name, warnings: [...warnings] };
  if (check.kind !== 'heartbeat') return { ...told, status: check.kind, code: check.code, reason: check.reason };
  let id: number | null = null;
  try {
    const fallback = { slug: check.body.slug ?? slugOf(check.body.name), timezone: check.body.timezone ?? 'UTC' };
    const fields = configured(check.body, fallback, context.now());
    const credentials = { ...newCredentials(), uuid: check.uuid, pushToken: check.pushToken };
    const wanted = { fields, wantsExactly: check.body.slug != null, isPaused: check.isPaused };
    id = await makeHeartbeat(context, scope, tx, workspaceId, wanted, credentials);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const status = error.code === 'slug_taken' ? 'skipped' : 'failed';
    return { ...told, status, code: error.code, reason: error.message };
  }
  if (id === null) {
    return {
      ...told,
      status: 'skipped',
      code: 'address_taken',
      reason: 'its uuid or push token is that of another heartbeat',
    };
  }
  await record(tx, actor, { id, workspace_id: workspaceId }, { action: 'heartbeat.created', detail: { name } });
  return { ...told, status: 'created', heartbeat_id: id };
}
