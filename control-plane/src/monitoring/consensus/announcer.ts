import type { Outlook } from './outlook.ts';
import type { Status } from './types.ts';

/** A recovery is told when two results say so, or after this (rule 8). */
const recoveryWaitsUs = 60_000_000;
/** That probes differ is told when those that were asked have looked, or after this. */
const differenceWaitsUs = 30_000_000;
/** An outage that rests on what a backlog told is told when the backlog is drained, or after this (rule 16). */
const backlogWaitsUs = 120_000_000;
/** One that the owner before held back waits so long for what that owner knew of backlogs to show again. */
const resumedWaitsUs = 10_000_000;

/** The present status and since when it holds. */
export type Present = { readonly status: Status; readonly sinceUs: number };

/** What else decides when a change is told. */
export type Circumstances = {
  readonly nowUs: number;
  /** Results from before a standstill of the control plane itself are still being read. */
  readonly isHeld: boolean;
  /** This probe is still sending what had gathered: its vote may be of the past. */
  readonly isBehind: (voter: number) => boolean;
};

/** A change to be told; `from` is the status that was told last. */
export type Announcement = { readonly from: Status };

/**
 * Decides when a change of a monitor's status is told to others. The timeline shows it at once; who acts upon it should not be woken by what
 * may be over in a moment. Nothing is told twice, and what was over before it was told never is.
 */
export class Announcer {
  #told: Status;
  #toldSinceUs: number | null;
  /** An outage was told, and nothing since that ends it. */
  #isOutageTold: boolean;
  #waitingSinceUs: number | null = null;
  /** Onset of an outage that was not told yet. */
  #untoldSinceUs: number | null = null;
  #isUntoldOver = false;
  /** The outage that is not told yet was held back by the owner before. */
  #isResumed = false;

  /**
   * @param told the status that was last told, and since when it held; null when that is not known
   * @param held what the owner before held back: the present status, as it was last written
   */
  constructor(told: Status, sinceUs: number | null, held?: Present) {
    this.#told = told;
    this.#toldSinceUs = sinceUs;
    // What was told before PARTIAL or UNKNOWN is not known any more: it may have been an outage. A new monitor has had none.
    const isNew = sinceUs === null && held === undefined;
    this.#isOutageTold = !isGood(told) && !isNew;
    if (held !== undefined && isFailing(held.status) && !isFailing(told)) {
      this.#untoldSinceUs = held.sinceUs;
      this.#isResumed = true;
    }
  }

  get told(): Status {
    return this.#told;
  }

  /** A change waits to be told: ask again when time has passed. */
  get isWaiting(): boolean {
    return this.#waitingSinceUs !== null;
  }

  /** What is to be told now. To be asked when the status or its beginning changed, and while a change waits. */
  next(present: Present, outlook: Outlook, circumstances: Circumstances): Announcement | undefined {
    const announcement = this.#decide(present, outlook, circumstances);
    this.#noteUntold(present);
    return announcement;
  }

  /** Onset of an outage that was over before it was told, once: it belongs to the past, and others may want to record it. */
  takeUntold(): number | undefined {
    if (this.#untoldSinceUs === null || !this.#isUntoldOver) return undefined;
    const sinceUs = this.#untoldSinceUs;
    this.#untoldSinceUs = null;
    return sinceUs;
  }

  #noteUntold({ status, sinceUs }: Present): void {
    const isTold = status === this.#told;
    if (isFailing(status) && !isTold) {
      this.#untoldSinceUs = Math.min(this.#untoldSinceUs ?? sinceUs, sinceUs);
      this.#isUntoldOver = false;
    } else if (isFailing(status) && sinceUs <= (this.#untoldSinceUs ?? sinceUs)) {
      this.#untoldSinceUs = null;
    } else if (isFailing(status) || isGood(status)) {
      this.#isUntoldOver = true;
    }
  }

  #decide(present: Present, outlook: Outlook, circumstances: Circumstances): Announcement | undefined {
    const from = this.#told;
    if (present.status === from) {
      // An onset that moves while the outage lasts is told; that it was over for a moment, which nobody was told, is not.
      const isMoved = isFailing(from) && !this.isWaiting && present.sinceUs !== this.#toldSinceUs;
      this.#waitingSinceUs = null;
      this.#isResumed = false;
      this.#toldSinceUs = present.sinceUs;
      return isMoved ? { from } : undefined;
    }
    this.#waitingSinceUs ??= circumstances.nowUs;
    const waitedUs = circumstances.nowUs - this.#waitingSinceUs;
    if (!this.#mayTell(present, outlook, circumstances, waitedUs)) return undefined;
    this.#told = present.status;
    this.#toldSinceUs = present.sinceUs;
    this.#waitingSinceUs = null;
    this.#isResumed = false;
    if (isFailing(present.status)) this.#isOutageTold = true;
    else if (isGood(present.status)) this.#isOutageTold = false;
    return { from };
  }

  #mayTell({ status, sinceUs }: Present, outlook: Outlook, now: Circumstances, waitedUs: number): boolean {
    if (isFailing(status)) {
      if (isFailing(this.#told) || waitedUs >= backlogWaitsUs) return true;
      return !now.isHeld && restsOnPresent(outlook, now) && (!this.#isResumed || waitedUs >= resumedWaitsUs);
    }
    if (isGood(status)) return !this.#isOutageTold || waitedUs >= recoveryWaitsUs || isConfirmedGood(outlook);
    if (status === 'PARTIAL') return waitedUs >= differenceWaitsUs || this.#haveOthersLooked(outlook, sinceUs);
    return true;
  }

  /**
   * As many as a quorum needs have looked since the difference began, and nobody's failure waits for its confirmation. Voters without a vote are
   * waited for where nobody had one before: all of them have only begun. Elsewhere they were lost before, and would not answer.
   */
  #haveOthersLooked({ opinions, silent, quorum }: Outlook, sinceUs: number): boolean {
    if ([...opinions, ...silent].some(({ isInDoubt }) => isInDoubt)) return false;
    const asked = this.#told === 'UNKNOWN' ? [...opinions, ...silent] : opinions;
    const looked = asked.filter(({ lastUs }) => lastUs >= sinceUs).length;
    return looked >= Math.min(quorum, asked.length);
  }
}

const isFailing = (status: Status): boolean => status === 'DOWN' || status === 'TIMEOUT';
const isGood = (status: Status): boolean => status === 'UP' || status === 'WARNING' || status === 'DEGRADED';

/** A quorum fails also without the votes of those that still send what had gathered. */
function restsOnPresent({ opinions, quorum }: Outlook, { isBehind }: Circumstances): boolean {
  return opinions.filter(({ voter, isFailing }) => isFailing && !isBehind(voter)).length >= quorum;
}

/** Two results say that it is over: of two voters, or two of one. */
function isConfirmedGood({ opinions }: Outlook): boolean {
  const good = opinions.filter((opinion) => !opinion.isFailing);
  return good.length > 1 || good.some(({ lastUs, sinceUs }) => lastUs > sinceUs);
}
