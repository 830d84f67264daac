import { createSlaCorrectionRoute, invalidInput, listSlaCorrectionsRoute, Problem } from '@parallax/api-contract';
import type { SlaCorrection } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import { noMonitor } from '../../../monitoring/monitors/index.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { HandlerInput, Route } from '../../../platform/http/handler.ts';
import { findSubject, lastHours, ofSubject, readAvailability, windowOf } from '../../statistics/index.ts';
import type { AvailabilityReport, Subject } from '../../statistics/index.ts';
import { correctionAnswer } from '../answer.ts';
import { createCorrector } from '../correction.ts';
import type { CorrectedTime } from '../correction.ts';
import { correctionEntry } from '../ledger/entry.ts';
import { appendEntries } from '../ledger/queries.ts';
import type { Correction } from '../report.ts';
import { requireCorrectable } from './rules.ts';
import {
  correctionsOf,
  correctionsPage,
  countCorrections,
  insertCorrection,
  lockForCorrection,
  nameOfUser,
} from './queries.ts';

/** More would make a report that nobody reads, and its files too large. */
const mostCorrections = 1_000;

/** Corrections of what a time counts as: a ledger that nobody can change. */
export function correctionRoutes(context: Context): Route[] {
  return [
    handle(createSlaCorrectionRoute, (input) =>
      ofSubject(context, input.caller, input.params.monitor_id, async (tx, { workspace_id: workspaceId }) => {
        requireRole(input.caller, workspaceId, 'owner');
        return correct(context, tx, input);
      }),
    ),

    handle(listSlaCorrectionsRoute, ({ params, query, caller }) =>
      ofSubject(context, caller, params.monitor_id, async (tx, subject) => {
        const { page, page_size: pageSize } = query;
        const { corrections, total } = await correctionsPage(tx, scopeOf(caller), subject, { page, pageSize });
        return {
          corrections: corrections.map((correction) => correctionAnswer(subject.id, correction)),
          total,
          page,
          page_size: pageSize,
        };
      }),
    ),
  ];
}

/** Stores a correction with what it changes, in the ledger too. */
async function correct(
  context: Context,
  tx: Transaction,
  { params, body, caller, request }: HandlerInput<typeof createSlaCorrectionRoute>,
): Promise<SlaCorrection> {
  const scope = scopeOf(caller);
  const subject = await lockSubject(tx, scope, params.monitor_id);
  const nowMs = context.now();
  const time = { startedMs: Date.parse(body.started_at), endedMs: Date.parse(body.ended_at) };
  requireCorrectable(time, nowMs);
  if ((await countCorrections(tx, scope, subject)) >= mostCorrections) {
    throw new Problem('conflict', `monitor ${subject.id} has ${mostCorrections} corrections, and more are not taken`);
  }
  const given = { ...time, countedAs: body.counted_as };
  const earlier = await correctionsOf(tx, scope, subject, { fromMs: time.startedMs, toMs: time.endedMs });
  const before = await readTime(tx, subject, time, earlier, nowMs);
  if (before.measured.measuredMs === 0) {
    throw invalidInput(
      'body',
      '/started_at',
      'not_measured',
      'nothing was measured in that time, so there is nothing to correct',
    );
  }
  const after = await readTime(tx, subject, time, [...earlier, { ...given, id: Number.POSITIVE_INFINITY }], nowMs);
  const correction = await insertCorrection(tx, subject, {
    ...given,
    reason: body.reason,
    by: await nameOfUser(tx, scope),
    userId: caller.userId,
    before: before.availability,
    after: after.availability,
  });
  await appendToLedger(tx, subject, correction);
  await recordAudit(tx, caller, request, {
    action: 'sla.corrected',
    workspaceId: subject.workspace_id,
    subjectType: 'monitor',
    subjectId: subject.id,
    detail: { correction_id: correction.id, counted_as: correction.countedAs },
  });
  return correctionAnswer(subject.id, correction);
}

/** The monitor as it is once nobody can reset it or append to its ledger any more. */
async function lockSubject(tx: Transaction, scope: Scope, monitorId: number): Promise<Subject> {
  await lockForCorrection(tx, scope, monitorId);
  const subject = await findSubject(tx, scope, monitorId);
  if (subject === null) throw noMonitor(monitorId);
  return subject;
}

/** What a time counts as under some corrections. */
function readTime(
  tx: Transaction,
  subject: Subject,
  { startedMs, endedMs }: Pick<CorrectedTime, 'startedMs' | 'endedMs'>,
  corrections: readonly CorrectedTime[],
  nowMs: number,
): Promise<AvailabilityReport> {
  const { openUntilMs } = windowOf(subject, lastHours(1), nowMs);
  return readAvailability(
    tx,
    subject.id,
    { fromMs: startedMs, toMs: endedMs, openUntilMs },
    { listedOutages: 0, correct: createCorrector(corrections) },
  );
}

function appendToLedger(tx: Transaction, { id, sla_chain: chain }: Subject, correction: Correction): Promise<void> {
  const place = { monitorId: id, chain };
  const text = (seq: number) => correctionEntry(correction, { ...place, seq, atMs: correction.createdMs });
  return appendEntries(tx, [{ ...place, kind: 'correction', day: null, text }]);
}
