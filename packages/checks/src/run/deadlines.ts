/**
 * Deadlines of checks. Nearly all of them are called off long before they are due, and many last equally long: those are kept in order by one
 * list with one timer, which costs a tenth of a timer of Node for each. No timer is left when the last deadline of a list has gone.
 */

/** A deadline that was set; it is in a list while `list` is there. */
export type Deadline = {
  readonly end: () => void;
  readonly dueMs: number;
  list: List | undefined;
  before: Deadline | undefined;
  after: Deadline | undefined;
};

/** Those of one duration, in the order in which they were set, which is the order in which they are due. */
type List = {
  readonly afterMs: number;
  first: Deadline | undefined;
  last: Deadline | undefined;
  timer: NodeJS.Timeout | undefined;
};

const lists = new Map<number, List>();
/** Timeouts are whole seconds; whoever asks for other durations leaves nothing behind. */
const keptLists = 300;
/** Timers of Node may be early by the part of a millisecond. */
const earlyMs = 1;

/** Calls `end` once when so many milliseconds have passed, unless it is called off before. */
export function setDeadline(end: () => void, afterMs: number): Deadline {
  let list = lists.get(afterMs);
  if (list === undefined) {
    list = { afterMs, first: undefined, last: undefined, timer: undefined };
    lists.set(afterMs, list);
  }
  const deadline: Deadline = { end, dueMs: performance.now() + afterMs, list, before: list.last, after: undefined };
  if (list.last === undefined) {
    list.first = deadline;
    list.timer = setTimeout(endDue, afterMs, list);
  } else list.last.after = deadline;
  list.last = deadline;
  return deadline;
}

/** Calls a deadline off; one that is over does nothing. */
export function cancelDeadline(deadline: Deadline): void {
  const { list } = deadline;
  if (list === undefined) return;
  remove(deadline, list);
  if (list.first !== undefined) return;
  clearTimeout(list.timer);
  if (lists.size > keptLists) lists.delete(list.afterMs);
}

function endDue(list: List): void {
  const untilMs = performance.now() + earlyMs;
  try {
    for (let first = list.first; first !== undefined && first.dueMs <= untilMs; first = list.first) {
      remove(first, list);
      first.end();
    }
  } finally {
    clearTimeout(list.timer);
    if (list.first !== undefined) list.timer = setTimeout(endDue, Math.max(1, list.first.dueMs - untilMs), list);
  }
}

function remove(deadline: Deadline, list: List): void {
  const { before, after } = deadline;
  if (before === undefined) list.first = after;
  else before.after = after;
  if (after === undefined) list.last = before;
  else after.before = before;
  deadline.list = undefined;
  deadline.before = undefined;
  deadline.after = undefined;
}
