/** Well or not, as far as an alert cares; PARTIAL and UNKNOWN are neither, and change nothing. */
export type Condition = 'up' | 'down';

/** What was told of a subject and what is so. */
export type AnnouncedState = {
  readonly told: Condition;
  readonly present: Condition;
  /** Onset of the outage, or when it was over; milliseconds since the epoch. */
  readonly sinceMs: number;
  /** An outage began while announcements were held. */
  readonly hadOutage: boolean;
};

/**
 * What is told: `down` and `up` as they happen, or `down` at the end of a maintenance that began while it was held; `all_clear` once at the
 * end of a maintenance in which an outage was over, or in which one ended that was told before.
 */
export type AnnouncementKind = 'down' | 'up' | 'all_clear';

export type Step = { readonly state: AnnouncedState; readonly tell: AnnouncementKind | null };

/** Of a subject of which nothing bad is known. */
export const well: AnnouncedState = { told: 'up', present: 'up', sinceMs: 0, hadOutage: false };

/**
 * A change of condition, or the same again with another onset.
 * @param isHeld a maintenance covers the subject
 */
export function change(state: AnnouncedState, present: Condition, sinceMs: number, isHeld: boolean): Step {
  if (isHeld) {
    const isOnset = present === 'down' && state.present === 'up';
    return { state: { ...state, present, sinceMs, hadOutage: state.hadOutage || isOnset }, tell: null };
  }
  const next: AnnouncedState = { told: present, present, sinceMs, hadOutage: false };
  return { state: next, tell: state.told === present ? null : present };
}

/** The last maintenance that covered the subject is over for it: what was held is told as what is left of it. */
export function release(state: AnnouncedState): Step {
  const { told, present } = state;
  const next: AnnouncedState = { ...state, told: present, hadOutage: false };
  if (present === 'down') return { state: next, tell: told === 'down' ? null : 'down' };
  return { state: next, tell: told === 'down' || state.hadOutage ? 'all_clear' : null };
}
