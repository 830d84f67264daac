import type { Logger } from '@parallax/telemetry';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { repeat } from '../../platform/repeat.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { dayMs, dayOf, sumDays } from './day-row.ts';
import { coversOf, onsetsAt, rangesOf, subjectsOf } from './inputs.queries.ts';
import type { DaySubject } from './inputs.queries.ts';
import {
  addMarks,
  completeDays,
  followSubjects,
  keptDays,
  removeOldDays,
  takeMarks,
  takeRunner,
  writeDays,
} from './store.queries.ts';
import type { Mark, NewMark, StoredDay } from './store.queries.ts';
import { subjectTypes } from './subject-type.ts';
import type { SubjectType } from './subject-type.ts';
import { wantedDays } from './wanted-days.ts';

/** A subject that changed is summed after so long at most; a round in which nothing changed looks at two empty indexes. */
const everyMs = 60_000;
const removeEveryMs = 3_600_000;
/** What is not known yet is looked at again after this. */
const unsettledMs = 30_000;
/** Marks of one transaction. */
const marksAtOnce = 1_000;
/** Days of a subject that are summed in one transaction, the latest first. */
const daysAtOnce = 31;
/** One day of one subject is read whole: it has no more ranges than this. */
const mostOfDay = 200_000;

/** How much is read at once: subjects, and ranges of them. */
export type AtOnce = { readonly subjects: number; readonly ranges: number };

/** Removes rows whose time is over. @returns how many */
export type Forgetting = (worker: Context['database']['worker']) => Promise<number>;

/** Keeps the sums of days up to date. */
export async function startDaySums(
  context: Context,
  log: Logger,
  forgetting: readonly Forgetting[],
): Promise<RunningService> {
  let removedMs = Number.NEGATIVE_INFINITY;
  return repeat({
    everyMs,
    work: async (isStopped) => {
      await refreshDays(context, () => !isStopped());
      if (performance.now() - removedMs < removeEveryMs) return;
      while (!isStopped() && (await removeOldDays(context.database.worker, context.now())) > 0);
      removedMs = performance.now();
      for (const forget of forgetting) await forget(context.database.worker);
    },
    onError: (error) => log.warn({ err: error }, 'summing days failed; it is tried again'),
  });
}

type Work = { readonly now: () => number; readonly database: Pick<Context['database'], 'worker'> };

/** Completes days that are over and sums again what has changed. @returns how many days were summed */
export async function refreshDays(
  context: Work,
  mayGoOn: () => boolean = () => true,
  atOnce: AtOnce = { subjects: 200, ranges: 20_000 },
): Promise<number> {
  while (((await asRunner(context, mayGoOn, (tx) => completeDays(tx, context.now()))) ?? 0) > 0);
  let summed = 0;
  for (;;) {
    const days = await asRunner(context, mayGoOn, (tx) => sumMarked(tx, context.now(), atOnce));
    if (days === null) return summed;
    summed += days;
  }
}

/** One step in a transaction of its own; null when another process sums, or there is nothing to be done. */
async function asRunner(
  { database }: Work,
  mayGoOn: () => boolean,
  step: (tx: Transaction) => Promise<number | null>,
): Promise<number | null> {
  if (!mayGoOn()) return null;
  return database.worker.transaction(async (tx) => ((await takeRunner(tx)) ? step(tx) : null));
}

async function sumMarked(tx: Transaction, nowMs: number, atOnce: AtOnce): Promise<number | null> {
  const marks = await takeMarks(tx, nowMs, marksAtOnce);
  if (marks.length === 0) return null;
  let summed = 0;
  for (const type of subjectTypes) {
    const own = marks.filter((mark) => mark.type === type);
    const whole = own.filter(({ isWhole }) => isWhole).map(({ id }) => id);
    await followSubjects(tx, type, whole);
    for (let at = 0; at < own.length; at += atOnce.subjects) {
      summed += await sumSubjects(tx, type, own.slice(at, at + atOnce.subjects), { nowMs, mostRanges: atOnce.ranges });
    }
  }
  return summed;
}

type Wanted = { readonly subject: DaySubject; readonly fromDay: number; readonly toDay: number };
type Limits = { readonly nowMs: number; readonly mostRanges: number };

async function sumSubjects(
  tx: Transaction,
  type: SubjectType,
  marks: readonly Mark[],
  limits: Limits,
): Promise<number> {
  const { nowMs } = limits;
  const found = await subjectsOf(
    tx,
    type,
    marks.map(({ id }) => id),
    nowMs,
  );
  const subjects = new Map(found.map((subject) => [subject.id, subject]));
  const wanted: Wanted[] = [];
  const rests: NewMark[] = [];
  for (const marked of marks) {
    const subject = subjects.get(marked.id);
    if (subject === undefined) continue;
    const oldestDay = dayOf(nowMs) - keptDays;
    const { rest, ...days } = wantedDays({ ...subject, marked, oldestDay, most: daysAtOnce });
    wanted.push({ subject, ...days });
    if (rest !== null) {
      const toMs = rest.toDay === null ? null : (rest.toDay + 1) * dayMs - 1;
      rests.push({ type, id: marked.id, fromMs: rest.fromDay * dayMs, toMs, dueMs: null });
    }
  }
  await addMarks(tx, rests);
  return sumWanted(tx, type, wanted, limits);
}

/** Halves what has more ranges than are held at once. */
async function sumWanted(
  tx: Transaction,
  type: SubjectType,
  wanted: readonly Wanted[],
  limits: Limits,
): Promise<number> {
  const [first] = wanted;
  if (first === undefined) return 0;
  const isOneDay = wanted.length === 1 && first.fromDay === first.toDay;
  const windows = wanted.map(({ subject, fromDay, toDay }) => ({
    id: subject.id,
    fromMs: Math.max(fromDay * dayMs, Math.ceil(subject.sinceMs)),
    toMs: (toDay + 1) * dayMs,
  }));
  const ranges = await rangesOf(tx, type, windows, isOneDay ? mostOfDay : limits.mostRanges);
  if (ranges === null && isOneDay) throw new RangeError(`${type} ${first.subject.id} has too many ranges on one day`);
  if (ranges === null) {
    let summed = 0;
    for (const half of halvesOf(wanted)) summed += await sumWanted(tx, type, half, limits);
    return summed;
  }
  const onsets = await onsetsAt(tx, type, windows, ranges);
  const whole = {
    fromMs: windows.reduce((least, { fromMs }) => Math.min(least, fromMs), Number.POSITIVE_INFINITY),
    toMs: windows.reduce((most, { toMs }) => Math.max(most, toMs), 0),
  };
  const covers = await coversOf(
    tx,
    type,
    wanted.map(({ subject }) => subject.id),
    whole,
  );
  const days: StoredDay[] = [];
  const unsettled: NewMark[] = [];
  for (const [place, { subject, toDay }] of wanted.entries()) {
    const { id, workspaceId, knownMs, liveDay } = subject;
    const { rows, isUnsettled } = sumDays({
      ranges: ranges.get(id) ?? [],
      pauses: covers.pausesOf(id),
      maintenance: covers.maintenanceOf(id),
      pausedAs: covers.pausedAs,
      fromMs: windows[place]?.fromMs ?? toDay * dayMs,
      toDay,
      knownMs: Math.max(Math.floor(knownMs), (liveDay ?? 0) * dayMs),
      onsetMs: onsets.get(id),
    });
    days.push(...rows.map((row) => ({ type, id, workspaceId, row })));
    if (isUnsettled) unsettled.push({ type, id, fromMs: knownMs, toMs: null, dueMs: limits.nowMs + unsettledMs });
  }
  await writeDays(tx, days);
  await addMarks(tx, unsettled);
  return days.length;
}

/** By subjects; of one subject by days, the earlier ones first: its live row is among the later ones. */
function halvesOf(wanted: readonly Wanted[]): readonly (readonly Wanted[])[] {
  const [first] = wanted;
  if (wanted.length > 1 || first === undefined) {
    const half = Math.ceil(wanted.length / 2);
    return [wanted.slice(0, half), wanted.slice(half)];
  }
  const middle = Math.floor((first.fromDay + first.toDay) / 2);
  return [[{ ...first, toDay: middle }], [{ ...first, fromDay: middle + 1 }]];
}
