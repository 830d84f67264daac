import { Problem } from '@parallax/api-contract';
import { isAfter, textOfCursor } from '../../platform/ordered-log/cursor.ts';
import type { Cursor } from '../../platform/ordered-log/cursor.ts';
import { eventText, keepAliveText } from './event-text.ts';
import type { LiveResult } from './live-results.ts';
import type { LiveEvent } from './queries.ts';

/** What a stream writes to, and asks. */
export type StreamEnds = {
  /** False when the client is slower than what it is told. */
  readonly write: (text: string) => boolean;
  /** Nothing is written afterwards. */
  readonly end: () => void;
  /** Workspaces that the caller may see now. Throws when the credentials are good no more. */
  readonly visible: () => Promise<ReadonlySet<number>>;
  readonly nowMs: () => number;
};

/** Text that waits for a client; one that takes it more slowly than that is let go, and comes again from where it was. */
const mostWaiting = 1_000;
const resultsEveryMs = 1_000;
const keepAliveMs = 15_000;

/** One client. Events are told once in their order, results of a monitor at most once in a second, and only what may be seen at that moment. */
export class LiveStream {
  readonly #ends: StreamEnds;
  readonly #only: number | undefined;
  readonly wantsResults: boolean;
  /** What waits, was told, or lies before what was asked for. */
  #upTo: Cursor;
  #events: LiveEvent[] = [];
  #results = new Map<number, LiveResult>();
  #resultsMs = Number.NEGATIVE_INFINITY;
  #writtenMs: number;
  #flushing: Promise<void> | undefined;
  #isOpen = false;
  #isOver = false;

  constructor(
    ends: StreamEnds,
    options: { readonly after: Cursor; readonly workspaceId: number | undefined; readonly wantsResults: boolean },
  ) {
    this.#ends = ends;
    this.#upTo = options.after;
    this.#only = options.workspaceId;
    this.wantsResults = options.wantsResults;
    this.#writtenMs = ends.nowMs();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Begins to tell: first `text`, then what was missed until `upTo`, then what was offered meanwhile. */
  open(text: string, missed: { readonly events: readonly LiveEvent[]; readonly upTo: Cursor }): void {
    if (this.#isOver) return;
    const since = this.#events.filter((event) => isAfter(event.cursor, missed.upTo));
    this.#events = [...missed.events.filter((event) => this.#concerns(event.workspaceId)), ...since];
    if (isAfter(missed.upTo, this.#upTo)) this.#upTo = missed.upTo;
    this.#isOpen = true;
    this.#ends.write(text);
  }

  /** Events that lie behind what was offered before; those that are told already are left out. */
  offer(events: readonly LiveEvent[]): void {
    for (const event of events) {
      if (!isAfter(event.cursor, this.#upTo)) continue;
      this.#upTo = event.cursor;
      if (this.#concerns(event.workspaceId)) this.#events.push(event);
    }
    if (this.#events.length > mostWaiting) this.finish('too_slow', 'more has happened than you take; come again');
  }

  offerResults(results: readonly LiveResult[]): void {
    if (!this.wantsResults) return;
    for (const result of results) {
      if (this.#concerns(result.workspace_id)) this.#results.set(result.monitor_id, result);
    }
  }

  /** Tells what waits and is due. One at a time; never rejects. */
  flush(): Promise<void> {
    this.#flushing ??= this.#tell().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  /** Tells why it is over, and ends it. */
  finish(code: string, detail: string): void {
    if (this.#isOver) return;
    this.#ends.write(eventText({ name: 'end', data: { code, detail } }));
    this.close();
  }

  /** The client went away. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events = [];
    this.#results.clear();
    this.#ends.end();
  }

  #concerns(workspaceId: number): boolean {
    return !this.#isOver && (this.#only === undefined || this.#only === workspaceId);
  }

  async #tell(): Promise<void> {
    const nowMs = this.#ends.nowMs();
    const areResultsDue = this.#results.size > 0 && nowMs - this.#resultsMs >= resultsEveryMs;
    const isSilent = nowMs - this.#writtenMs >= keepAliveMs;
    if (!this.#isOpen || this.#isOver || (this.#events.length === 0 && !areResultsDue && !isSilent)) return;
    const visible = await this.#look();
    if (visible === undefined || this.#isOver) return;
    let text = '';
    for (const { cursor, workspaceId, kind, payload } of this.#events.splice(0)) {
      if (visible.has(workspaceId)) text += eventText({ name: kind, data: payload, id: textOfCursor(cursor) });
    }
    if (areResultsDue) {
      const results = [...this.#results.values()].filter((result) => visible.has(result.workspace_id));
      this.#results.clear();
      this.#resultsMs = nowMs;
      if (results.length > 0) text += eventText({ name: 'results', data: { results } });
    }
    if (text === '' && !isSilent) return;
    this.#writtenMs = nowMs;
    if (!this.#ends.write(text === '' ? keepAliveText : text)) {
      this.finish('too_slow', 'you take more slowly than things happen; come again');
    }
  }

  /** What may be seen now; ends the stream when that is nothing any more. */
  async #look(): Promise<ReadonlySet<number> | undefined> {
    try {
      const visible = await this.#ends.visible();
      if (this.#only === undefined || visible.has(this.#only)) return visible;
      this.finish('not_found', `there is no workspace ${this.#only}`);
    } catch (error) {
      if (error instanceof Problem) this.finish(error.code, error.message);
      // The database is away: nothing may be told without its word. What waits is told when it is back.
    }
    return undefined;
  }
}
