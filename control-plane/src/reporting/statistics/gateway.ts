import type { WindowQuery } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { windowSummary } from '../../monitoring/check-results/index.ts';
import type { WindowSummary } from '../../monitoring/check-results/index.ts';
import { noMonitor } from '../../monitoring/monitors/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import { scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { probeFigures } from './probes.ts';
import type { ProbeFigures } from './probes.ts';
import { findSubject, probesOf, probeTimes } from './queries.ts';
import type { Subject } from './queries.ts';
import { reportWindow, wantedWindow } from './window.ts';
import type { ReportWindow, WantedWindow } from './window.ts';

/**
 * Reads of one monitor that the caller may see, in its scope and in one transaction.
 * @throws Problem `not_found`
 */
export async function ofSubject<Answer>(
  context: Pick<Context, 'database'>,
  caller: Caller,
  monitorId: number,
  read: (transaction: Transaction, subject: Subject) => Promise<Answer>,
): Promise<Answer> {
  const scope = scopeOf(caller);
  return inScope(context.database.api, scope, async (tx) => {
    const subject = await findSubject(tx, scope, monitorId);
    if (subject === null) throw noMonitor(monitorId);
    return read(tx, subject);
  });
}

/**
 * Reads of the window of a monitor that a query asks for.
 * @throws Problem `not_found`, and `invalid_input` for a window that cannot be
 */
export async function readWindow<Answer>(
  context: Pick<Context, 'database' | 'now'>,
  caller: Caller,
  monitorId: number,
  query: WindowQuery,
  read: (transaction: Transaction, subject: Subject, window: ReportWindow) => Promise<Answer>,
): Promise<Answer> {
  const nowMs = context.now();
  const wanted = wantedWindow(query, nowMs);
  return ofSubject(context, caller, monitorId, (tx, subject) => read(tx, subject, windowOf(subject, wanted, nowMs)));
}

/** A window of a monitor as far as it is known. */
export function windowOf(subject: Subject, wanted: WantedWindow, nowMs: number): ReportWindow {
  return reportWindow({
    wanted,
    nowMs,
    createdMs: subject.created_at,
    resetMs: subject.reset_at,
    foldedUntilMs: subject.folded_until,
  });
}

/** What results of a window say in sum. */
export function readSummary(
  transaction: Transaction,
  monitorId: number,
  { fromMs, toMs }: ReportWindow,
  probeId?: number,
): Promise<WindowSummary> {
  return windowSummary(transaction, monitorId, { fromMs, toMs, ...(probeId === undefined ? {} : { probeId }) });
}

/** What each vantage point of a monitor measured in a window. @param pausedMs how much of the window was paused */
export async function readProbeFigures(
  transaction: Transaction,
  monitorId: number,
  window: ReportWindow,
  summary: WindowSummary,
  pausedMs: number,
): Promise<ProbeFigures[]> {
  const probes = await probesOf(transaction, monitorId, window, [...summary.perProbe.keys()]);
  const times = await probeTimes(
    transaction,
    monitorId,
    probes.map(({ probeId }) => probeId),
    window,
  );
  return probeFigures(probes, times, summary, { ms: window.toMs - window.fromMs, pausedMs });
}
