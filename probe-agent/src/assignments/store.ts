import type { Assignment, AssignmentDelta, SnapshotBegin, SnapshotEnd } from '@parallax/wire';
import { applyDelta, applySnapshot } from './apply.ts';
import type { AssignmentChange } from './apply.ts';

/** A change as the runner sees it, with what it needs to tell new from known. */
export type AppliedChange = AssignmentChange & {
  /** By monitor, before the change; only of those in `set`. */
  readonly previous: ReadonlyMap<number, Assignment>;
  /** The first assignments since the start of the agent: nothing of it is new to the monitors. */
  readonly first: boolean;
};

/** The assignments of this probe, kept by the messages of its session. */
export class AssignmentStore {
  readonly #byMonitor = new Map<number, Assignment>();
  readonly #onChange: (change: AppliedChange) => void;
  #revision = 0n;
  #incoming: { begin: SnapshotBegin; assignments: Assignment[] } | undefined;
  #hasAny = false;
  #privateTargetsBasis = '';

  constructor(onChange: (change: AppliedChange) => void) {
    this.#onChange = onChange;
  }

  /** Highest revision that is applied; 0 asks for a snapshot. */
  get revision(): bigint {
    return this.#revision;
  }

  /** The basis of the last snapshot that is applied; told to the control plane, which sends another one when it has another basis. */
  get privateTargetsBasis(): string {
    return this.#privateTargetsBasis;
  }

  get size(): number {
    return this.#byMonitor.size;
  }

  get(monitorId: number): Assignment | undefined {
    return this.#byMonitor.get(monitorId);
  }

  /** Everything that is assigned. */
  get all(): readonly Assignment[] {
    return [...this.#byMonitor.values()];
  }

  /** Begins with what an earlier run had, up to its revision; only before anything came from the control plane. */
  restore(revision: bigint, assignments: readonly Assignment[], privateTargetsBasis: string): void {
    this.#privateTargetsBasis = privateTargetsBasis;
    this.#apply({ revision, set: assignments, removed: [] });
  }

  /** Nothing is assigned any more, and nothing is known: the next session asks for all. */
  clear(): void {
    this.#privateTargetsBasis = '';
    this.#incoming = undefined;
    this.#apply({ revision: 0n, set: [], removed: [...this.#byMonitor.keys()] });
  }

  /** A session has ended: a snapshot that was under way starts anew. */
  forgetIncoming(): void {
    this.#incoming = undefined;
  }

  beginSnapshot(begin: SnapshotBegin): void {
    this.#incoming = { begin, assignments: [] };
  }

  /** A part of the snapshot; a string says that there is none under way or that it grows beyond what was announced. */
  addChunk(assignments: readonly Assignment[]): string | undefined {
    if (this.#incoming === undefined) return 'a part of a snapshot came without its beginning';
    this.#incoming.assignments.push(...assignments);
    if (this.#incoming.assignments.length <= this.#incoming.begin.count) return undefined;
    return 'the snapshot is larger than announced';
  }

  /** Applies the snapshot; a string says why it could not be, and the next session will ask for a whole one. */
  endSnapshot(end: SnapshotEnd): string | undefined {
    const incoming = this.#incoming;
    this.#incoming = undefined;
    if (incoming === undefined) return 'a snapshot ended that had not begun';
    if (incoming.begin.revision !== end.revision) return 'the snapshot ended with another revision than it began with';
    const change = applySnapshot(this.#state, incoming.assignments, end);
    if (typeof change === 'string') {
      this.#revision = 0n;
      return change;
    }
    this.#privateTargetsBasis = end.privateTargetsBasis;
    this.#apply(change);
    return undefined;
  }

  /** Applies a delta; one that is known already does nothing. */
  applyDelta(delta: AssignmentDelta): void {
    const change = applyDelta(this.#state, delta);
    if (change !== undefined) this.#apply(change);
  }

  get #state() {
    return { revision: this.#revision, byMonitor: this.#byMonitor };
  }

  #apply(change: AssignmentChange): void {
    const previous = new Map<number, Assignment>();
    for (const assignment of change.set) {
      const held = this.#byMonitor.get(assignment.monitorId);
      if (held !== undefined) previous.set(assignment.monitorId, held);
      this.#byMonitor.set(assignment.monitorId, assignment);
    }
    for (const monitorId of change.removed) this.#byMonitor.delete(monitorId);
    this.#revision = change.revision;
    const first = !this.#hasAny;
    this.#hasAny = true;
    this.#onChange({ ...change, previous, first });
  }
}
