import type { RangeEdit, RangeEvidence, RangeStatus, StoredRange } from './types.ts';

/** A range in memory, with why it has its status. */
export type KeptRange = StoredRange & { readonly evidence: RangeEvidence };

/** The range tables of one monitor in memory: what the edits of a fold leave. */
export class RangeLedger {
  readonly #byVoter = new Map<number | null, Map<number, KeptRange>>();

  /** @throws Error when an edit names a range that is not there: the edits are of another fold */
  apply(edits: readonly RangeEdit[]): void {
    for (const edit of edits) {
      const table = this.#byVoter.get(edit.voter) ?? new Map<number, KeptRange>();
      this.#byVoter.set(edit.voter, table);
      if (edit.op === 'insert') {
        const { voter, startedUs, endedUs, status, evidence } = edit;
        table.set(startedUs, { voter, startedUs, endedUs, status, evidence });
        continue;
      }
      const range = table.get(edit.startedUs);
      if (range === undefined) throw new Error(`no range of voter ${edit.voter} starts at ${edit.startedUs}`);
      table.delete(edit.startedUs);
      if (edit.op === 'delete') continue;
      const { newStartedUs = edit.startedUs, endedUs, status = range.status, evidence = range.evidence } = edit;
      table.set(newStartedUs, { voter: edit.voter, startedUs: newStartedUs, endedUs, status, evidence });
    }
  }

  /** Ranges of a voter (null: of the monitor), oldest first. */
  of(voter: number | null): KeptRange[] {
    return [...(this.#byVoter.get(voter)?.values() ?? [])].sort((a, b) => a.startedUs - b.startedUs);
  }

  /** Ranges that are open or ended at a time or later: of the monitor, and of all its voters. */
  reaching(fromUs: number): { readonly own: StoredRange[]; readonly ofVoters: StoredRange[] } {
    const reaches = ({ endedUs }: StoredRange): boolean => endedUs === null || endedUs >= fromUs;
    const voters = [...this.#byVoter.keys()].filter((voter) => voter !== null);
    return {
      own: this.of(null).filter(reaches),
      ofVoters: voters.flatMap((voter) => this.of(voter).filter(reaches)),
    };
  }

  /** For each voter the status of the latest of its ranges that began before a time, when that is a failing one. */
  failingBefore(us: number): Map<number, 'DOWN' | 'TIMEOUT'> {
    const failing = new Map<number, 'DOWN' | 'TIMEOUT'>();
    for (const voter of this.#byVoter.keys()) {
      const status = voter === null ? undefined : this.#statusBefore(voter, us);
      if (voter !== null && (status === 'DOWN' || status === 'TIMEOUT')) failing.set(voter, status);
    }
    return failing;
  }

  /** For each voter when the latest of its ranges that began before a time ends; infinity for one that is open. */
  endsBefore(us: number): Map<number, number> {
    const ends = new Map<number, number>();
    for (const voter of this.#byVoter.keys()) {
      const last = voter === null ? undefined : this.#lastBefore(voter, us);
      if (voter !== null && last !== undefined) ends.set(voter, last.endedUs ?? Number.POSITIVE_INFINITY);
    }
    return ends;
  }

  #statusBefore(voter: number, us: number): RangeStatus | undefined {
    return this.#lastBefore(voter, us)?.status;
  }

  #lastBefore(voter: number, us: number): KeptRange | undefined {
    return this.of(voter).findLast(({ startedUs }) => startedUs < us);
  }
}
