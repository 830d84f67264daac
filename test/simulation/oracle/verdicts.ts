import { isVoidByReset } from '../../../control-plane/src/response/incidents/reset.ts';
import { decideIncident, transitionSchema } from '../../../control-plane/src/response/incidents/transition.ts';
import { ranges, timeline } from '../../../control-plane/src/monitoring/consensus/index.ts';
import type {
  RangeEdit,
  RangeEvidence,
  RangeRun,
  StoredRange,
  StoredResult,
} from '../../../control-plane/src/monitoring/consensus/index.ts';
import type { Database } from '../models/database/database.ts';
import type { RoundWrite } from '../models/database/results.ts';
import type { MonitorRecord } from '../models/database/tables.ts';
import { inputsOf } from '../models/database/tables.ts';
import type { Targets } from '../world/targets.ts';
import { Violation } from './violation.ts';

/** What was announced of a monitor so far. */
type Told = {
  to: string;
  openMs: number | undefined;
  resetMs: number | null;
  /** A reset has come between: the next may go on from either side of it. */
  isReset: boolean;
  readonly downs: { readonly startedMs: number; isOver: boolean }[];
};

const isDown = (status: string | undefined): boolean => status === 'DOWN' || status === 'TIMEOUT';

/** Judges what is said of monitors: their ranges, their outages and what is announced of these. */
export class Verdicts {
  readonly #database: Database;
  readonly #targets: Targets;
  /** Probes that may say what is not so: a liar, and who had lost its own uplink at times. */
  readonly #excused: ReadonlySet<number>;
  readonly #told = new Map<number, Told>();
  downs = 0;

  constructor(database: Database, targets: Targets, excused: ReadonlySet<number>) {
    this.#database = database;
    this.#targets = targets;
    this.#excused = excused;
  }

  /** A round has been seen. */
  judge(write: RoundWrite): void {
    for (const edit of write.edits) if (edit.op !== 'delete' && edit.voter === null) this.#judgeDown(edit);
    for (const monitorId of new Set(write.edits.map((edit) => edit.monitorId))) this.#judgeRanges(monitorId);
    for (const { kind, payload } of write.outbox) if (kind === 'monitor.transition') this.#announce(payload);
    for (const { monitorId, status, announced } of write.statuses) {
      const told = this.#toldOf(monitorId);
      if (told.to !== (announced ?? status) && !told.isReset)
        throw new Violation(
          'changes are told',
          `monitor ${monitorId} is ${status}, announced ${announced}, told was ${told.to}`,
        );
    }
  }

  /** What was told of a monitor before is void. */
  reset(monitorId: number, atUs: number): void {
    const told = this.#toldOf(monitorId);
    told.isReset = true;
    told.resetMs = atUs / 1_000;
    told.openMs = undefined;
    told.downs.length = 0;
  }

  #toldOf(monitorId: number): Told {
    const told = this.#told.get(monitorId) ?? {
      to: 'UNKNOWN',
      openMs: undefined,
      resetMs: null,
      isReset: false,
      downs: [],
    };
    this.#told.set(monitorId, told);
    return told;
  }

  /** Whether what is stored is what the definition says of the rows, up to an instant that everything is told of. */
  compare(monitor: MonitorRecord, untilUs: number): void {
    const inputs = inputsOf(monitor, this.#database.configuration.quarantines);
    const rows = this.#database.results.rowsOf(monitor.id);
    const startUs = Math.max(monitor.createdUs, monitor.resetUs ?? monitor.createdUs);
    const { segments, perVoter } = timeline(inputs, rows, startUs, untilUs + 1);
    const tables = this.#database.results.rangesOf(monitor.id);
    const voters = [null, ...new Set([...perVoter.keys(), ...tables.tables.keys()].filter((voter) => voter !== null))];
    for (const voter of voters) {
      const own = voter === null ? segments : (perVoter.get(voter) ?? []);
      const wanted = told(ranges(own), startUs, untilUs + 1);
      const stored = shown(tables.of(voter), startUs, untilUs + 1);
      if (wanted !== stored)
        throw new Violation(
          'increment equals batch',
          `monitor ${monitor.id}, voter ${voter ?? 'all'}: should be [${wanted}], is [${stored}]`,
        );
    }
    const status = segments.at(-1)?.status;
    if (status !== undefined && status !== monitor.status)
      throw new Violation('increment equals batch', `monitor ${monitor.id} should be ${status}, is ${monitor.status}`);
  }

  /** At the end of all: an outage that was announced has a range, or was taken back. */
  judgeAnnouncements(): void {
    for (const [monitorId, { downs }] of this.#told) {
      const monitor = this.#database.configuration.monitor(monitorId);
      if (monitor.isDeleted || monitor.resetUs !== null) continue;
      const stored = this.#database.results
        .rangesOf(monitorId)
        .of(null)
        .filter(({ status }) => isDown(status));
      for (const { startedMs, isOver } of downs) {
        const hasRange = stored.some(({ endedUs }) => endedUs === null || endedUs / 1_000 > startedMs);
        if (!hasRange && !isOver)
          throw new Violation(
            'an outage that was told is there',
            `monitor ${monitorId}, since ${startedMs}, has no range`,
          );
      }
    }
  }

  #judgeDown(edit: Exclude<RangeEdit, { op: 'delete' }>): void {
    if (!isDown(edit.status) || edit.evidence === undefined) return;
    this.downs += 1;
    const startedUs = edit.op === 'insert' ? edit.startedUs : (edit.newStartedUs ?? edit.startedUs);
    const { evidence } = edit;
    const failing = evidence.voters.filter(({ vote }) => isDown(vote));
    if (evidence.quorum < 1 || failing.length < evidence.quorum)
      throw new Violation(
        'no DOWN without a quorum',
        `monitor ${edit.monitorId} at ${startedUs}: ${JSON.stringify(evidence)}`,
      );
    for (const { voter } of failing) this.#judgeFailure(edit.monitorId, voter, startedUs, evidence);
  }

  /**
   * A voter that counts as failing has a fresh result that says so, and that was true, but for those who may be wrong. So of the failures of a quorum
   * no more are untrue than there are of these.
   */
  #judgeFailure(monitorId: number, voter: number, atUs: number, evidence: RangeEvidence): void {
    let latest: (StoredResult & { readonly dnsUs: number | undefined }) | undefined;
    for (const row of this.#database.results.rowsOf(monitorId)) {
      const isVoting = row.voter === voter && row.kind !== 'manual' && row.outcome !== 'skipped' && row.eUs <= atUs;
      if (isVoting && (latest === undefined || row.eUs > latest.eUs)) latest = row;
    }
    const isFresh = latest !== undefined && latest.eUs + latest.freshS * 1_000_000 > atUs;
    const told = JSON.stringify(evidence);
    if (latest === undefined || !isFresh || (latest.outcome !== 'fail' && latest.outcome !== 'timeout'))
      throw new Violation(
        'absence makes no DOWN',
        `monitor ${monitorId} at ${atUs}: probe ${voter} counts as failing by ${JSON.stringify(latest)}; ${told}`,
      );
    const isTrue = this.#targets.checks.get(latest.dnsUs ?? 0)?.isTrueFailure === true;
    if (!isTrue && !this.#excused.has(voter))
      throw new Violation(
        'failures are true',
        `monitor ${monitorId} at ${atUs}: probe ${voter} has seen none; ${told}`,
      );
  }

  #judgeRanges(monitorId: number): void {
    const { tables } = this.#database.results.rangesOf(monitorId);
    for (const voter of tables.keys()) {
      const rows = this.#database.results.rangesOf(monitorId).of(voter);
      for (const [index, row] of rows.entries()) {
        const before = rows[index - 1];
        if (before === undefined) continue;
        const endedUs = before.endedUs ?? Number.POSITIVE_INFINITY;
        if (endedUs > row.startedUs || (endedUs === row.startedUs && before.status === row.status))
          throw new Violation(
            'ranges partition time',
            `monitor ${monitorId}, voter ${voter ?? 'all'}: ${before.status} until ${endedUs}, then ${row.status} from ${row.startedUs}`,
          );
      }
    }
  }

  #announce(payload: unknown): void {
    const transition = transitionSchema.parse(payload);
    const { monitor_id: monitorId, from, to } = transition;
    const told = this.#toldOf(monitorId);
    const goesOn = from === told.to || (told.isReset && from === 'UNKNOWN');
    // What an owner says that has not heard of a reset yet is void; the next may be one that has.
    told.isReset = isVoidByReset(transition, told.resetMs);
    if (!goesOn || (from === to && !isDown(to)))
      throw new Violation('nothing is told twice', `monitor ${monitorId}: from ${from} to ${to}, told was ${told.to}`);
    told.to = to;
    if (told.isReset) return;
    const open = told.openMs === undefined ? undefined : { startedMs: told.openMs };
    const decision = decideIncident(transition, { name: 'm', isPaused: false, isDeleted: false }, open);
    if (decision.kind === 'open') {
      told.downs.push({ startedMs: decision.startedMs, isOver: false });
      told.openMs = decision.startedMs;
    } else if (decision.kind === 'move_onset') told.openMs = decision.startedMs;
    else if (decision.kind === 'resolve') told.openMs = undefined;
    if (!isDown(to)) for (const down of told.downs) down.isOver = true;
  }
}

const told = (runs: readonly RangeRun[], fromUs: number, untilUs: number): string =>
  runs
    .map(({ status, fromUs: start, toUs }) => `${status} ${start - fromUs} ${toUs >= untilUs ? 'open' : toUs - fromUs}`)
    .join(', ');

function shown(rows: readonly Omit<StoredRange, 'voter'>[], fromUs: number, untilUs: number): string {
  return rows
    .filter(({ startedUs, endedUs }) => startedUs < untilUs && (endedUs === null || endedUs > fromUs))
    .map(
      ({ status, startedUs, endedUs }) =>
        `${status} ${Math.max(0, startedUs - fromUs)} ${endedUs === null ? 'open' : endedUs - fromUs}`,
    )
    .join(', ');
}
