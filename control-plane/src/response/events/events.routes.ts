import {
  describedEvents,
  eventReading,
  invalidInput,
  listEventsRoute,
  listEventTypesRoute,
  Problem,
} from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { eventsSubject } from '../../platform/bus/subjects.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { cursorOfText, textOfCursor } from '../../platform/ordered-log/cursor.ts';
import type { Cursor } from '../../platform/ordered-log/cursor.ts';
import { presentCursor } from '../../platform/ordered-log/present.queries.ts';
import { readEvents } from './read.queries.ts';
import type { Filter } from './read.queries.ts';

/** How long one looks again who waits and gets no hint, such as for an event whose transaction was not over at its hint. */
const lookEveryMs = 1_000;
/** Requests of one user, and of this process, that wait. */
const mostWaiting = { ofUser: 10, ofProcess: 500 } as const;

const keptMs = eventReading.keptDays * 86_400_000;

/** What other systems can be told of, and what happened. */
export function eventRoutes(context: Context): Route[] {
  // Their schemas take some ms, which nobody may ever ask for.
  let catalogue: ReturnType<typeof describedEvents> | undefined;
  const waiting = createWaiting();
  return [
    handle(listEventTypesRoute, async () => ({ events: [...(catalogue ??= describedEvents())] })),

    handle(listEventsRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const filter: Filter = {
        workspaceIds: query.workspace_id === undefined ? scope.workspaceIds : [query.workspace_id],
        patterns: patternsOf(query.types),
        subjectType: query.subject_type,
        subjectId: query.subject_id,
      };
      const read = (after: Cursor) =>
        inScope(context.database.api, scope, (tx) => readEvents(tx, filter, after, query.limit));
      if (query.after === undefined) {
        const present = await inScope(context.database.api, scope, (tx) => presentCursor(tx));
        return { events: [], next: textOfCursor(present), has_gap: false };
      }
      const after = cursorOfText(query.after);
      if (after === undefined) {
        throw invalidInput('query', '/after', 'invalid_format', '`after` must be `next` of an earlier answer');
      }
      const present = await inScope(context.database.api, scope, (tx) => presentCursor(tx));
      // The database was restored since: its transactions have not come as far as this place.
      const isElsewhere = after.xid > present.xid;
      const hasGap = isElsewhere || after.atMs < context.now() - keptMs;
      let found = await read(isElsewhere ? { ...after, xid: 0n, id: 0n } : after);
      const untilMs = performance.now() + query.wait_seconds * 1_000;
      if (found.events.length === 0 && query.wait_seconds > 0) {
        const leave = waiting.enter(caller.userId);
        try {
          while (found.events.length === 0 && performance.now() < untilMs) {
            await hintOr(context, Math.min(lookEveryMs, untilMs - performance.now()));
            found = await read(found.next);
          }
        } finally {
          leave();
        }
      }
      return { events: found.events.map(answerOf), next: textOfCursor(found.next), has_gap: hasGap };
    }),
  ];
}

function patternsOf(types: string | undefined): readonly string[] {
  if (types === undefined) return [];
  const patterns = types.split(',').map((type) => type.trim());
  const wrong = patterns.find((pattern) => !/^(\*|[a-z_]+\.(\*|[a-z_]+))$/.test(pattern));
  if (wrong === undefined) return patterns;
  throw invalidInput(
    'query',
    '/types',
    'invalid_format',
    `${JSON.stringify(wrong)} is no type of event and no pattern such as monitor.*`,
  );
}

function answerOf({ eventId, body }: { readonly eventId: string; readonly body: string }) {
  const event = JSON.parse(body) as {
    type: string;
    timestamp: string;
    workspace_id: number;
    sequence: number;
    data: Record<string, unknown>;
  };
  return { id: eventId, ...event };
}

/** Waits for a hint that there are events, at most for some time. */
function hintOr({ bus }: Pick<Context, 'bus'>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      hints.stop();
      resolve();
    };
    const timer = setTimeout(end, Math.max(1, ms));
    const hints = bus.listen(eventsSubject, end);
  });
}

/** Counts requests that wait. `enter` gives what ends the wait, or throws `Problem` where too many wait. */
function createWaiting() {
  const byUser = new Map<number, number>();
  let all = 0;
  return {
    enter: (userId: number): (() => void) => {
      const own = byUser.get(userId) ?? 0;
      if (own >= mostWaiting.ofUser || all >= mostWaiting.ofProcess) {
        const detail = `${mostWaiting.ofUser} requests of one user and ${mostWaiting.ofProcess} of one server may wait for events`;
        throw new Problem('rate_limited', `${detail}; ask without wait_seconds`, { retryAfterSeconds: 20 });
      }
      byUser.set(userId, own + 1);
      all += 1;
      return () => {
        all -= 1;
        const left = (byUser.get(userId) ?? 1) - 1;
        if (left > 0) byUser.set(userId, left);
        else byUser.delete(userId);
      };
    },
  };
}
