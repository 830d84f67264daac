import { inMessages } from '../../assignments/index.ts';
import type { AssignmentDeltas, AssignmentSnapshot } from '../../assignments/index.ts';
import type { Outbound } from './outbound.ts';

/** Where the assignments of one probe come from. */
export type AssignmentSource = {
  /** The whole set. Who bounds how many are in memory at once does it here. */
  readonly snapshot: () => Promise<AssignmentSnapshot>;
  /** What changed above a revision. */
  readonly deltasSince: (revision: bigint) => Promise<AssignmentDeltas>;
};

/** Brings one agent's set of assignments up to date and keeps it there; one step at a time, whoever asks. */
export class AssignmentFeed {
  readonly #source: AssignmentSource;
  readonly #outbound: Outbound;
  readonly #privateTargetsBasis: string;
  #sentRevision: bigint;
  #needsSnapshot: boolean;
  #running: Promise<void> | undefined;
  #isWanted = false;
  #isStopped = false;

  constructor(options: {
    readonly source: AssignmentSource;
    readonly outbound: Outbound;
    /** What the agent has applied; 0 for nothing. */
    readonly knownRevision: bigint;
    /** Sent with a snapshot; see session.proto. */
    readonly privateTargetsBasis: string;
  }) {
    this.#source = options.source;
    this.#outbound = options.outbound;
    this.#privateTargetsBasis = options.privateTargetsBasis;
    this.#sentRevision = options.knownRevision;
    this.#needsSnapshot = options.knownRevision <= 0n;
  }

  /** The revision that the agent has when it has applied everything that was sent. */
  get sentRevision(): bigint {
    return this.#sentRevision;
  }

  /**
   * Whether the agent is behind what the database had when it was asked. A revision below what had been sent before that
   * means a database that was restored: the agent then gets a snapshot.
   * @param sentBefore `sentRevision` before the question; by now more may have been sent
   */
  isBehind(presentRevision: bigint, sentBefore: bigint): boolean {
    if (presentRevision < sentBefore) this.#needsSnapshot = true;
    return this.#needsSnapshot || presentRevision > this.#sentRevision;
  }

  /** There is, or may be, something new. @returns when the agent has been sent all there was */
  wake(): Promise<void> {
    this.#isWanted = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #run(): Promise<void> {
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false;
      if (this.#needsSnapshot) await this.#sendSnapshot();
      await this.#sendDeltas();
    }
  }

  async #sendSnapshot(): Promise<void> {
    if (this.#isStopped) return;
    const { revision, assignments, hash } = await this.#source.snapshot();
    const count = assignments.length;
    await this.#outbound.sendAndWait({ $case: 'snapshotBegin', value: { revision, count } });
    for (const chunk of inMessages(assignments)) {
      if (this.#isStopped) return;
      await this.#outbound.sendAndWait({ $case: 'assignmentChunk', value: { assignments: chunk } });
    }
    await this.#outbound.sendAndWait({
      $case: 'snapshotEnd',
      value: { revision, count, hash, privateTargetsBasis: this.#privateTargetsBasis },
    });
    this.#sentRevision = revision;
    this.#needsSnapshot = false;
  }

  async #sendDeltas(): Promise<void> {
    while (!this.#isStopped) {
      const { steps, isComplete } = await this.#source.deltasSince(this.#sentRevision);
      for (const { changed, removed, revision } of steps) {
        if (this.#isStopped) return;
        await this.#outbound.sendAndWait({
          $case: 'assignmentDelta',
          value: { changed: [...changed], removed: [...removed], revision },
        });
        this.#sentRevision = revision;
      }
      if (isComplete) return;
    }
  }
}
