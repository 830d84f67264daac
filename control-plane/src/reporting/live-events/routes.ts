import { Readable } from 'node:stream';
import { Problem, streamEventsRoute } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../platform/http/handler.ts';
import { cursorOfText, isAfter, textOfCursor } from '../../platform/ordered-log/cursor.ts';
import type { Cursor } from '../../platform/ordered-log/cursor.ts';
import { eventText, retryText } from './event-text.ts';
import type { LiveHub } from './hub.ts';
import { presentCursor } from '../../platform/ordered-log/present.queries.ts';
import { eventsOfScope } from './queries.ts';
import { LiveStream } from './stream.ts';

/** How long events are told again to whoever comes back. */
export const keepMs = 24 * 3_600_000;
/** More than these are not told again: reading anew is less work for everybody. */
const mostMissed = 1_000;
/** What a client has not taken yet, in bytes. */
const mostUntaken = 1_048_576;
/** Open streams of one user, and of this process. */
const mostStreams = { ofUser: 20, ofProcess: 1_000 } as const;

/** What happens, as it happens. */
export function liveEventRoutes(context: Context, hub: LiveHub): Route[] {
  const places = createPlaces();
  return [
    handle(streamEventsRoute, async ({ query, caller, request }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const leave = places.take(caller.userId);
      const text = openText(request);
      text.once('close', leave);
      try {
        const last = lastSeen(request, await presentCursor(context.database.api));
        const stream = new LiveStream(
          {
            write: (part) => text.push(part) || text.readableLength < mostUntaken,
            end: () => text.push(null),
            visible: async () => new Set((await request.callerNow())?.workspaces.keys()),
            nowMs: () => performance.now(),
          },
          { after: last.after, workspaceId: query.workspace_id, wantsResults: query.results },
        );
        text.once('close', () => {
          stream.close();
          hub.remove(stream);
        });
        await hub.add(stream);
        await begin(context, caller, stream, last);
      } catch (error) {
        text.destroy();
        throw error;
      }
      // A proxy must not gather it; and when it ends, its connection would hold up the stop of the server for as long as it may be idle.
      request.reply.headers({ 'x-accel-buffering': 'no', connection: 'close' });
      return text;
    }),
  ];
}

/** Counts open streams. `take` gives what frees the place, or throws `Problem` where there is none. */
function createPlaces() {
  const byUser = new Map<number, number>();
  let all = 0;
  return {
    take: (userId: number): (() => void) => {
      const own = byUser.get(userId) ?? 0;
      if (own >= mostStreams.ofUser || all >= mostStreams.ofProcess) {
        const detail = `${mostStreams.ofUser} streams of one user and ${mostStreams.ofProcess} of one server may be open`;
        throw new Problem('rate_limited', `${detail}; close another one`, { retryAfterSeconds: 60 });
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

/** The body of the answer: what is written is sent as it comes. */
function openText(request: RequestFacts): Readable {
  const text = new Readable({ read: () => undefined, highWaterMark: mostUntaken });
  request.signal.addEventListener('abort', () => void text.destroy(), { once: true });
  return text;
}

type LastSeen = { readonly after: Cursor; readonly lost: string | undefined; readonly isNew: boolean };

/** Where the client was: the present when it says nothing, or nothing that can be gone on from. */
function lastSeen(request: RequestFacts, present: Cursor): LastSeen {
  const given = request.header('last-event-id');
  if (given === undefined || given === '') return { after: present, lost: undefined, isNew: true };
  const cursor = cursorOfText(given);
  const anew = (lost: string): LastSeen => ({ after: present, lost, isNew: false });
  if (cursor === undefined || isAfter(cursor, { ...present, id: present.id })) {
    return anew('your Last-Event-ID is none of this installation');
  }
  if (present.atMs - cursor.atMs > keepMs) return anew('what has happened since is not kept any more');
  return { after: cursor, lost: undefined, isNew: false };
}

/** Tells what was missed, or that it is too much. */
async function begin(context: Context, caller: Caller, stream: LiveStream, last: LastSeen): Promise<void> {
  const scope = scopeOf(caller);
  const read = await inScope(context.database.api, scope, (tx) => eventsOfScope(scope, tx, last.after, mostMissed));
  if (last.lost === undefined && !read.isMore) {
    const ready = eventText({ name: 'ready', data: {}, id: textOfCursor(last.isNew ? read.upTo : last.after) });
    stream.open(retryText + ready, read);
    return;
  }
  const present = await presentCursor(context.database.api);
  const reason = last.lost ?? `more than ${mostMissed} events have happened since`;
  stream.open(retryText + eventText({ name: 'reset', data: { reason }, id: textOfCursor(present) }), {
    events: [],
    upTo: present,
  });
}
