import type { ResultRecord } from '@parallax/wire';
import type { IngestRow } from '../../../control-plane/src/monitoring/check-results/ingest/rows.ts';
import type { Database } from '../models/database/database.ts';
import type { RoundWrite } from '../models/database/results.ts';
import type { Targets } from '../world/targets.ts';
import type { StreamName } from './log-watch.ts';
import { Violation } from './violation.ts';

type Appended = {
  readonly id: number;
  readonly monitorId: number;
  /** It bore its time when it was logged; else it is placed later, or dated by the wall clock as the probe's own error. */
  readonly isStamped: boolean;
};
type Stream = {
  readonly probeId: number;
  readonly epoch: number;
  readonly shard: number;
  /** By sequence number from 1 on; appended again by a later run of the agent where it was not on the medium. */
  readonly appended: Map<number, Appended>;
  synced: number;
};

/** A result may be dated this much beside the truth, and by half of its interval where it had to be placed. */
const datedWithinUs = 3_500_000;

/**
 * Follows every result from the log of its probe to its row: none is lost, none is doubled, none comes before those before it, nobody who
 * does not own the shard writes, and what a probe takes for committed is committed.
 */
export class Deliveries {
  readonly #database: Database;
  readonly #targets: Targets;
  readonly #streams = new Map<string, Stream>();
  readonly #stored = new Set<number>();
  #storedRows = 0;

  constructor(database: Database, targets: Targets) {
    this.#database = database;
    this.#targets = targets;
  }

  get storedRows(): number {
    return this.#storedRows;
  }

  appended(probeId: number, name: StreamName, seq: number, result: ResultRecord): void {
    const { monitorId, effectiveUs, dnsUs = 0 } = result;
    this.#stream(probeId, name).appended.set(seq, { id: dnsUs, monitorId, isStamped: effectiveUs !== 0 });
  }

  synced(probeId: number, name: StreamName, seq: number): void {
    const stream = this.#stream(probeId, name);
    if (seq !== stream.synced + 1)
      throw new Violation('log in order', `${describe(stream)}: ${seq} was synced after ${stream.synced}`);
    stream.synced = seq;
  }

  acknowledged(probeId: number, { epoch, shard }: StreamName, seq: number): void {
    const committed = this.#database.results.cursor(shard, probeId, epoch);
    if (seq > committed)
      throw new Violation(
        'acknowledged is committed',
        `probe ${probeId} freed its log up to ${seq} of ${epoch}/${shard}; committed is ${committed}`,
      );
  }

  /** A round is about to be seen. */
  judge(write: RoundWrite): void {
    const row = this.#database.locks.row(write.shard);
    if (row.owner !== write.owner || row.term !== write.term)
      throw new Violation(
        'only the owner writes',
        `${write.owner} wrote to shard ${write.shard} in term ${write.term}, which is ${row.owner}'s in term ${row.term}`,
      );
    if (write.lost.length > 0)
      throw new Violation('nothing is given up', `recorded as lost: ${JSON.stringify(write.lost)}`);
    const refused = write.refused.filter(({ reason }) => reason !== 'rows_out_of_time');
    if (refused.length > 0) throw new Violation('nothing good is refused', `refused: ${JSON.stringify(refused)}`);
    const left = new Map<string, IngestRow[]>();
    for (const each of write.rows) {
      this.#judgeRow(each);
      const key = keyOf(each.voter, each.monitorId, each.dnsUs ?? 0);
      left.set(key, [...(left.get(key) ?? []), each]);
    }
    for (const move of write.moves) this.#judgeMove(write, move, left);
    for (const rows of left.values())
      for (const each of rows)
        if (each.voter !== 0)
          throw new Violation('rows are of logged results', `${tell(each)} stands behind no cursor that moves`);
  }

  /** What is still on its way of what was synced when this is called; asked again it says what of that is missing. */
  expectSynced(): () => string[] {
    const wanted = [...this.#streams.values()].map((stream) => ({ stream, seq: stream.synced }));
    return () =>
      wanted.flatMap(({ stream, seq }) => {
        const committed = this.#database.results.cursor(stream.shard, stream.probeId, stream.epoch);
        return committed >= seq ? [] : [`${describe(stream)}: synced ${seq}, committed ${committed}`];
      });
  }

  #judgeRow(row: IngestRow): void {
    this.#storedRows += 1;
    const id = row.dnsUs ?? 0;
    if (id === 0) return;
    if (this.#stored.has(id)) throw new Violation('none is doubled', `${tell(row)} was stored before`);
    this.#stored.add(id);
    const check = this.#targets.checks.get(id);
    if (check === undefined || check.probeId !== row.voter || check.monitorId !== row.monitorId)
      throw new Violation('rows are of checks', `${tell(row)} was never checked so`);
    const beside = Math.abs(row.eUs - check.startedUs);
    const within = datedWithinUs + (row.freshS / 7) * 1_000_000;
    if (row.outcome !== 'probe_error' && beside > within)
      throw new Violation('dated as it was', `${tell(row)} is dated ${beside / 1e6} s beside the truth`);
    if (row.eUs > row.receivedUs) throw new Violation('dated as it was', `${tell(row)} is later than its receipt`);
  }

  #judgeMove(write: RoundWrite, move: RoundWrite['moves'][number], left: Map<string, IngestRow[]>): void {
    const stream = this.#streams.get(nameOf(move.probeId, { epoch: move.epoch, shard: write.shard }));
    const committed = this.#database.results.cursor(write.shard, move.probeId, move.epoch);
    if (stream === undefined || move.to < move.from || move.from !== committed)
      throw new Violation(
        'cursors follow the log',
        `${move.probeId}/${move.epoch}/${write.shard} from ${move.from} (committed ${committed}) to ${move.to}`,
      );
    for (let seq = move.from + 1; seq <= move.to; seq += 1) {
      const logged = stream.appended.get(seq);
      if (logged === undefined) throw new Violation('cursors follow the log', `${describe(stream)} has no ${seq}`);
      const key = keyOf(move.probeId, logged.monitorId, logged.id);
      const rows = left.get(key) ?? [];
      const row = rows.shift();
      if (rows.length === 0) left.delete(key);
      if (row === undefined && !this.#mayBeLeftOut(logged, write))
        throw new Violation('none is lost', `${describe(stream)}: the cursor passes ${seq}, which has no row`);
    }
  }

  /** Of a monitor that is gone or was reset; or dated by a wall clock that was far ahead, because nobody could tell the time. */
  #mayBeLeftOut({ monitorId, isStamped }: Appended, write: RoundWrite): boolean {
    if (!isStamped && write.refused.length > 0) return true;
    const monitor = this.#database.configuration.monitors.get(monitorId);
    return monitor?.isDeleted === true || (monitor?.resetUs ?? null) !== null;
  }

  #stream(probeId: number, { epoch, shard }: StreamName): Stream {
    const name = nameOf(probeId, { epoch, shard });
    const found = this.#streams.get(name) ?? { probeId, epoch, shard, appended: new Map(), synced: 0 };
    this.#streams.set(name, found);
    return found;
  }
}

const nameOf = (probeId: number, { epoch, shard }: StreamName): string => `${probeId}/${epoch}/${shard}`;
const describe = ({ probeId, epoch, shard }: Stream): string => `probe ${probeId}, epoch ${epoch}, shard ${shard}`;
const keyOf = (voter: number, monitorId: number, id: number): string => `${voter} ${monitorId} ${id}`;
const tell = ({ voter, monitorId, outcome, eUs, dnsUs }: IngestRow): string =>
  `the ${outcome} of probe ${voter} for monitor ${monitorId} at ${eUs} (check ${dnsUs ?? 0})`;
