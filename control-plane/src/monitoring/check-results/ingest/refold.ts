import type { RangeEdit, Taken } from '../../consensus/index.ts';

/** Ranges of a monitor that are derived anew, because what is stored was found to be wrong. Times in microseconds. */
export type Refold = {
  readonly fromUs: number;
  /** Up to when the stored ranges tell. */
  readonly toldUntilUs: number;
};

/** What a fold has taken, with every change of what had been told marked as a revision. */
export function asRevision(taken: Taken, toldUntilUs: number): Taken {
  return { ...taken, edits: taken.edits.map((edit) => asRevised(edit, toldUntilUs)) };
}

function asRevised(edit: RangeEdit, toldUntilUs: number): RangeEdit {
  if (edit.op === 'delete') return edit;
  if (edit.op === 'insert') return { ...edit, revised: edit.revised || edit.startedUs < toldUntilUs };
  // Time goes on meanwhile: an open range that ends now was not wrong.
  const isEnd = edit.newStartedUs === undefined && edit.status === undefined && (edit.endedUs ?? 0) >= toldUntilUs;
  return { ...edit, revised: edit.revised || !isEnd };
}
