import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import { repeat } from '../../../platform/repeat.ts';
import type { Repeated } from '../../../platform/repeat.ts';
import { committedCursors, lostAfterSeconds, noticeLostProbes, probeStates, writeReports } from './queries.ts';
import type { ProbeSession } from './session.ts';
import type { TableSignals } from '../../../platform/database/table-signals.ts';
import { repeatWhenDue } from '../../../platform/repeat-when-due.ts';

/** Times in ms. */
export type UpkeepLimits = {
  /** From one look for what hints may have missed to the next, where changes of probes are not signalled. */
  readonly pollMs: number;
  /** From one writing of heartbeats to the next. */
  readonly reportMs: number;
  /** No probe counts as lost for so long after the start, and after the database was away. */
  readonly quietMs: number;
};

export type UpkeepOptions = {
  /** The worker's pool. */
  readonly pool: DatabasePool;
  /** Absent: nothing is signalled. */
  readonly signals?: Pick<TableSignals, 'on' | 'isHeard'>;
  readonly sessions: () => readonly ProbeSession[];
  /** The product's own listeners as they are now. */
  readonly deniedListeners: () => readonly { readonly address: string; readonly port: number }[];
  /** The database's clock, ms. */
  readonly now: () => number;
  readonly log: Logger;
  readonly limits: UpkeepLimits;
};

/** What no signal tells of: acknowledgements whose hint was lost, credentials that end, listeners of other replicas. */
const slowPollMs = 5_000;
/** However often probes change. */
const leastPollMs = 100;
/** Sessions that are ended in one look, when all have to begin anew. */
const renewedAtOnce = 50;
/** A tick that comes so late means that this process stood still. */
const standstillMs = 5_000;

/** Keeps the sessions of this process and the database at one: two loops over all of them, and no query for each. */
export class SessionUpkeep {
  readonly #options: UpkeepOptions;
  #loops: { readonly poll: Repeated; readonly report: Repeated } | undefined;
  #quietUntilMs: number;
  #lastTickMs: number;

  constructor(options: UpkeepOptions) {
    this.#options = options;
    this.#quietUntilMs = performance.now() + options.limits.quietMs;
    this.#lastTickMs = performance.now();
  }

  start(): void {
    const { signals, limits } = this.#options;
    const { pollMs, reportMs } = limits;
    const poll = () => this.#poll();
    const onError = (error: unknown): void => this.#databaseAway(error);
    this.#loops = {
      poll:
        signals === undefined
          ? repeat({ everyMs: pollMs, work: poll, onError })
          : repeatWhenDue({
              signals,
              tables: ['probes', 'probe_sessions'],
              everyMs: Math.max(pollMs, slowPollMs),
              unheardMs: pollMs,
              leastMs: Math.min(pollMs, leastPollMs),
              work: poll,
              onError,
            }),
      report: repeat({ everyMs: reportMs, work: () => this.#report(), onError }),
    };
  }

  /** Looks at once for what a hint may have missed. */
  pollSoon(): void {
    void this.#loops?.poll.soon();
  }

  /** No look begins after the call; resolves when the last one has ended. */
  async stop(): Promise<void> {
    await Promise.all([this.#loops?.poll.stop(), this.#loops?.report.stop()]);
  }

  /** Looks for what hints may have missed: two queries for all connected probes. */
  async #poll(): Promise<undefined> {
    const { pool, now } = this.#options;
    const sessions = this.#options.sessions();
    if (sessions.length === 0) return undefined;
    const sentBefore = new Map(sessions.map((session) => [session, session.feed.sentRevision]));
    const states = await probeStates(pool, sessions);
    const cursors = await committedCursors(pool, sessions);
    const byProbe = new Map(states.map((state) => [state.id, state]));
    this.#endWithOldListeners(sessions);
    for (const session of sessions) {
      if (session.isClosed) continue;
      const state = byProbe.get(session.probeId);
      if (state === undefined || state.is_revoked) {
        session.end('revoked', 'the probe was revoked');
      } else if (state.open_session !== null && Number(state.open_session) !== session.sessionId) {
        // Also when it is older: this session opened after the query was made.
        if (Number(state.open_session) > session.sessionId) session.end('superseded', 'a newer session of this probe');
      } else if (state.open_session === null) {
        session.end('superseded', 'the session was closed elsewhere');
      } else {
        const sent = sentBefore.get(session) ?? 0n;
        if (session.feed.isBehind(state.assignment_revision, sent)) session.wakeFeed();
        session.acknowledge(cursors.get(session.probeId) ?? []);
        session.renewCredentials(now());
      }
    }
    return undefined;
  }

  /** Agents are told at the beginning of a session which listeners are the product's own, so a change takes a new one. */
  #endWithOldListeners(sessions: readonly ProbeSession[]): void {
    const present = JSON.stringify(this.#options.deniedListeners());
    // One that somebody waits for is ended at a later look.
    const old = sessions.filter((session) => session.isIdle && session.toldListeners !== present);
    for (const session of old.slice(0, renewedAtOnce)) {
      session.end('stopping', 'the listeners of the control plane have changed: dial again');
    }
  }

  /** Writes heartbeats, ends sessions that fell silent, and gives notices of lost probes. */
  async #report(): Promise<void> {
    const { pool, limits, log } = this.#options;
    const tickMs = performance.now();
    const nowMs = this.#options.now();
    const sessions = this.#options.sessions();
    if (tickMs - this.#lastTickMs > limits.reportMs + standstillMs) {
      for (const session of sessions) session.forgiveSilence(nowMs);
      this.#quietUntilMs = tickMs + limits.quietMs;
    }
    this.#lastTickMs = tickMs;
    for (const session of sessions) {
      if (session.idleMs(nowMs) > lostAfterSeconds * 1_000) session.end('silent', 'no heartbeat for 45 s');
    }
    await this.#writeReports(sessions, nowMs);
    const lost = await noticeLostProbes(pool, {
      isQuiet: performance.now() < this.#quietUntilMs,
      quietMs: limits.quietMs,
      standstillMs: limits.reportMs + standstillMs,
    });
    for (const probe of lost) log.warn({ probe_id: probe.id, name: probe.name }, 'probe is lost');
  }

  async #writeReports(sessions: readonly ProbeSession[], nowMs: number): Promise<void> {
    const due = sessions.flatMap((session) => {
      const report = session.isClosed ? undefined : session.takeReport(nowMs);
      return report === undefined ? [] : [{ session, report }];
    });
    try {
      await writeReports(
        this.#options.pool,
        due.map(({ report }) => report),
      );
    } catch (error) {
      for (const { session } of due) session.keepReport();
      throw error;
    }
  }

  #databaseAway(error: unknown): void {
    this.#quietUntilMs = performance.now() + this.#options.limits.quietMs;
    this.#options.log.warn({ err: error }, 'the database could not be asked about probes');
  }
}
