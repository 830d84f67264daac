import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../ports.ts';
import type { Logger } from '../ports.ts';
import { writeFileAtomically } from '../state/files.ts';
import { refuseOld } from './confirmation-age.ts';
import type { Moment } from './confirmation-age.ts';
import { openAssignments, sealAssignments } from './sealed-assignments.ts';
import type { KeptAssignments, SealOwner } from './sealed-assignments.ts';

export type AssignmentCacheOptions = {
  readonly stateDir: string;
  readonly owner: SealOwner;
  readonly now: () => Moment;
  /** What is to be kept; undefined while nothing whole is known. */
  readonly present: () => Omit<KeptAssignments, 'confirmed'> | undefined;
  readonly logger: Logger;
  /** At most one writing in so many milliseconds. */
  readonly everyMs?: number;
};

const fileName = 'assignments.sealed';
const everyMs = 5_000;
/** Sealing takes the thread of the checks: of many assignments it is done so much more seldom that it takes half a percent of the time. */
const sealingShare = 200;
/** Unchanged assignments are written anew so often, only to say that they still hold. */
const refreshMs = 15 * 60_000;

/** The assignments in the state folder, sealed, from which an agent starts while its control plane is away. */
export class AssignmentCache {
  readonly #options: AssignmentCacheOptions;
  readonly #file: string;
  #confirmed: Moment | undefined;
  #writtenAtMs = -Infinity;
  #waitMs: number;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isWanted = false;
  #isRemoved = false;
  #hasFailed = false;

  constructor(options: AssignmentCacheOptions) {
    this.#options = options;
    this.#file = path.join(options.stateDir, fileName);
    this.#waitMs = options.everyMs ?? everyMs;
  }

  /** What an earlier run has kept, when it may still be checked; otherwise one warning says why not, and the agent goes on without. */
  async read(): Promise<KeptAssignments | undefined> {
    const { stateDir, owner, now, logger } = this.#options;
    try {
      // A writing that was cut off leaves its unfinished file.
      const left = (await readdir(stateDir)).filter((name) => name.startsWith(`${fileName}.`));
      for (const name of left) await rm(path.join(stateDir, name), { force: true });
      const kept = openAssignments(await readFile(this.#file), owner);
      const refused = typeof kept === 'string' ? kept : refuseOld(kept.confirmed, now());
      if (typeof kept !== 'string' && refused === undefined) return kept;
      logger.warn(
        { file: this.#file, reason: refused },
        'the kept assignments are not used; those of the control plane are awaited',
      );
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      logger.warn(
        { file: this.#file, reason: messageOf(error) },
        'the kept assignments are not used; those of the control plane are awaited',
      );
    }
    return undefined;
  }

  /** The control plane is in touch, so what is held is known to hold. Cheap; to be called often. */
  confirm(): void {
    const now = this.#options.now();
    this.#confirmed = now;
    if (now.monotonicMs - this.#writtenAtMs >= refreshMs) this.#want();
  }

  /** The assignments have changed, or contact was lost: to be written soon, many changes in one writing. */
  changed(): void {
    this.#want();
  }

  /** Writes at once what is still to be written, for the end of the agent. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#writing;
    if (this.#isWanted) await this.#write();
  }

  /** The probe is no longer one: nothing is kept any more. */
  async remove(): Promise<void> {
    this.#isRemoved = true;
    clearTimeout(this.#timer);
    this.#isWanted = false;
    await this.#writing;
    await rm(this.#file, { force: true });
  }

  /** A probe after all. */
  allow(): void {
    this.#isRemoved = false;
  }

  #want(): void {
    if (this.#isRemoved) return;
    this.#isWanted = true;
    if (this.#timer !== undefined || this.#writing !== undefined) return;
    const sinceMs = this.#options.now().monotonicMs - this.#writtenAtMs;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#writing = this.#write().finally(() => {
          this.#writing = undefined;
          if (this.#isWanted) this.#want();
        });
      },
      Math.min(this.#waitMs, Math.max(100, this.#waitMs - sinceMs)),
    );
    this.#timer.unref();
  }

  async #write(): Promise<void> {
    this.#isWanted = false;
    const { owner, now, present, logger } = this.#options;
    const content = present();
    const confirmed = this.#confirmed;
    if (content === undefined || confirmed === undefined || this.#isRemoved) return;
    const startMs = now().monotonicMs;
    this.#writtenAtMs = startMs;
    const sealed = sealAssignments({ ...content, confirmed }, owner, randomBytes);
    this.#waitMs = Math.max(this.#options.everyMs ?? everyMs, (now().monotonicMs - startMs) * sealingShare);
    try {
      await writeFileAtomically(this.#file, sealed);
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed)
        logger.warn(
          { file: this.#file, error: messageOf(error) },
          'the assignments could not be kept for a start without the control plane',
        );
      this.#hasFailed = true;
    }
  }
}
