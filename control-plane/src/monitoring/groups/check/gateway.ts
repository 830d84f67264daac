import { groupCheckSettings } from '@parallax/api-contract';
import type { CheckOutcome } from '@parallax/checks';
import type { Logger } from '@parallax/telemetry';
import type pg from 'pg';
import type { GroupLook } from './onset.ts';
import { outcomeOf, traceOf } from './outcome.ts';
import { groupMonitorsOfAny, membersOf } from './queries.ts';
import type { Asked } from './queries.ts';

/** One look of the control plane at the members of a group monitor. */
export type GroupRun = {
  readonly startedMs: number;
  readonly outcome: CheckOutcome;
  readonly trace: ReadonlyArray<{ readonly atMs: number; readonly step: string; readonly detail: string }>;
  readonly look: GroupLook;
};

/** Looks at the members of a group monitor. @throws when the database cannot be read: nothing is known then */
export type GroupCheck = (monitor: { readonly workspaceId: number; readonly settings: unknown }) => Promise<GroupRun>;

type Waiting = {
  readonly asked: Asked;
  readonly resolve: (look: GroupLook & { readonly atMs: number }) => void;
  readonly reject: (error: unknown) => void;
};

/** Asked in one statement: a group has a thousand members at most. */
const readAtOnce = 200;

/**
 * Makes what looks at group monitors. Those that are due together are read in one statement, never one by one; what is asked while a statement
 * runs waits for the next one, so that it sees what was written before it was asked.
 */
export function createGroupCheck(context: {
  readonly database: { readonly raw: Pick<pg.Pool, 'query'> };
  readonly now: () => number;
}): GroupCheck {
  let waiting: Waiting[] = [];
  let isReading = false;

  async function readAll(): Promise<void> {
    isReading = true;
    // What else is due in this turn comes along.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, readAtOnce);
      waiting = waiting.slice(readAtOnce);
      const atMs = context.now();
      try {
        const read = await membersOf(
          context.database.raw,
          batch.map(({ asked }) => asked),
        );
        for (const [index, { asked, resolve }] of batch.entries()) {
          resolve({ members: read[index] ?? [], minimumUp: asked.settings.minimum_up, atMs });
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isReading = false;
  }

  return async ({ workspaceId, settings }) => {
    const asked = { workspaceId, settings: groupCheckSettings.parse(settings) };
    const { atMs, ...look } = await new Promise<GroupLook & { readonly atMs: number }>((resolve, reject) => {
      waiting.push({ asked, resolve, reject });
      if (!isReading) void readAll();
    });
    return { startedMs: atMs, outcome: outcomeOf(look), trace: traceOf(look), look };
  };
}

/** Finds the group monitors that contain monitors whose status has changed. */
export type GroupFinder = { readonly changed: (monitorIds: readonly number[]) => void };

/**
 * Makes the finder of a process. What changes while a statement runs goes into the next one, however much it is. A failure is not tried again:
 * the next regular look finds the same, and dates it the same.
 */
export function createGroupFinder(
  context: { readonly database: { readonly raw: Pick<pg.Pool, 'query'> } },
  log: Logger,
  onFound: (groupMonitorIds: readonly number[]) => void,
): GroupFinder {
  let changed = new Set<number>();
  let isReading = false;

  async function readAll(): Promise<void> {
    isReading = true;
    while (changed.size > 0) {
      const monitorIds = [...changed];
      changed = new Set();
      try {
        const found = await groupMonitorsOfAny(context.database.raw, monitorIds);
        if (found.length > 0) onFound(found);
      } catch (error) {
        log.info(
          { err: error },
          'group monitors of changed members could not be read; they are looked at when they are due',
        );
      }
    }
    isReading = false;
  }

  return {
    changed: (monitorIds) => {
      for (const monitorId of monitorIds) changed.add(monitorId);
      if (!isReading) void readAll();
    },
  };
}
