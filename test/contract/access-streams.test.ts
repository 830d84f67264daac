import t from 'tap';
import { capabilities } from '../../control-plane/src/capabilities.ts';
import { sql } from '../../control-plane/src/platform/database/pools.ts';
import { enqueue } from '../../control-plane/src/platform/outbox/enqueue.ts';
import { startOutboxWorker } from '../../control-plane/src/platform/outbox/worker.ts';
import { watch } from '../../control-plane/src/reporting/live-events/testing.ts';
import type { WatchedStream } from '../../control-plane/src/reporting/live-events/testing.ts';
import { openWorld } from './world.ts';

/* A stream that is open tells nothing more to whom the right to it was taken away meanwhile, in each way in which that is done. */

const world = await openWorld(t);
const worker = await startOutboxWorker(
  world.context,
  capabilities.flatMap((capability) => capability.consumers ?? []),
);
t.teardown(async () => {
  await worker.stop();
  world.app.server.closeAllConnections();
});
const monitorId = await world.monitor();

type Watcher = {
  readonly name: string;
  readonly userId: number;
  /** Opened before the right is taken away. */
  readonly stream: WatchedStream;
  readonly takeAway: () => Promise<unknown>;
};

const open = (token: string): Promise<WatchedStream> =>
  watch(t, `${world.url}/api/v1/events/stream?results=false`, { authorization: `Bearer ${token}` });

async function member(name: string) {
  const account = await world.account(`${name}@example.com`);
  await world.database.worker.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) values (${world.workspaceId}, ${account.id}, 'viewer')`);
  return account;
}

async function watcher(
  name: string,
  takeAway: (account: Awaited<ReturnType<typeof member>>) => Promise<unknown>,
): Promise<Watcher> {
  const account = await member(name);
  return { name, userId: account.id, stream: await open(account.accessToken), takeAway: () => takeAway(account) };
}

const switchMonitor = (verb: 'pause' | 'resume') => world.make('POST', `/api/v1/monitors/${monitorId}/${verb}`);
const call = async (method: string, path: string, token: string, body?: unknown): Promise<void> => {
  const answer = await world.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
};

/** Who loses only the workspace, and keeps what they came with. */
const stays = new Set(['removed', 'left']);

/** Something happens in a workspace of their own. */
async function tellOwn(userId: number): Promise<void> {
  await world.database.worker.transaction(async (transaction) => {
    const own = await transaction.maybeOne(sql.typeAlias('id')`select id from workspaces where owner_id = ${userId}`);
    if (own === null) return;
    await enqueue(transaction, {
      key: `user:${userId}`,
      kind: 'monitor.resumed',
      // Of a monitor that is gone already: every consumer reads it, and has nothing to do.
      payload: { workspace_id: own.id, monitor_id: 2_147_483_647, at: new Date().toISOString(), user_id: userId },
    });
  });
}

await t.test('nothing is told any more once the right to it is gone', async (t) => {
  const tokenOwner = await member('token');
  const made = await world.call('POST', '/api/v1/auth/tokens', {
    token: tokenOwner.accessToken,
    body: { name: 'watch' },
  });
  t.equal(made.status, 201, made.text);
  const watchers: readonly Watcher[] = [
    await watcher('removed', (account) =>
      world.database.worker.query(sql.unsafe`
        delete from workspace_members where workspace_id = ${world.workspaceId} and user_id = ${account.id}`),
    ),
    await watcher('left', ({ accessToken }) =>
      call('POST', `/api/v1/workspaces/${world.workspaceId}/leave`, accessToken),
    ),
    await watcher('loggedout', ({ accessToken }) => call('POST', '/api/v1/auth/logout/all', accessToken)),
    await watcher('changed', ({ accessToken, refreshToken }) =>
      call('POST', '/api/v1/auth/logout', accessToken, { refresh_token: refreshToken }),
    ),
    await watcher('deleted', ({ accessToken, password }) =>
      call('DELETE', '/api/v1/auth/me', accessToken, { password }),
    ),
    {
      name: 'revoked token',
      userId: tokenOwner.id,
      stream: await open(String(made.body['token'])),
      takeAway: () => call('DELETE', `/api/v1/auth/tokens/${String(made.body['id'])}`, tokenOwner.accessToken),
    },
  ];
  const owner = await open(world.token);
  for (const stream of [owner, ...watchers.map((each) => each.stream)]) {
    t.equal(stream.status, 200);
    t.match(await stream.next(), { event: 'ready' });
  }
  await switchMonitor('pause');
  for (const { name, stream } of [{ name: 'the owner', stream: owner }, ...watchers]) {
    t.match(await stream.next(), { event: 'monitor.paused', data: { monitor_id: monitorId } }, `${name} sees it`);
  }
  for (const { takeAway } of watchers) await takeAway();
  await switchMonitor('resume');
  t.match(await owner.next(), { event: 'monitor.resumed' });
  for (const { name, userId, stream } of watchers) {
    await tellOwn(userId);
    const seen = await stream.next();
    const isOwn = seen?.event === 'monitor.resumed' && (seen.data as { user_id?: number }).user_id === userId;
    t.ok(seen?.event === 'end' || isOwn, `${name}: ${JSON.stringify(seen)}`);
    t.equal(isOwn, stays.has(name), `${name}: who still has an account sees what is their own`);
  }
});

await t.test('what becomes of an incident is told to who may see it, in UTC, and to no stranger', async (t) => {
  const viewer = await member('viewer');
  const stranger = await world.account('stranger@example.com');
  const streams = { viewer: await open(viewer.accessToken), stranger: await open(stranger.accessToken) };
  for (const stream of Object.values(streams)) t.match(await stream.next(), { event: 'ready' });
  const made = await world.call('POST', '/api/v1/incidents', {
    token: world.token,
    body: { workspace_id: world.workspaceId, title: 'Payments fail' },
  });
  t.equal(made.status, 201, made.text);
  const path = `/api/v1/incidents/${String(made.body['id'])}`;
  // It is due at once; what people do next is told after it.
  await call('POST', `${path}/acknowledge`, world.token);
  await call('POST', `${path}/updates`, world.token, { body: 'We look at it.' });
  await call('POST', `${path}/resolve`, world.token);
  await call('DELETE', path, world.token);
  for (const event of ['opened', 'acknowledged', 'updated', 'resolved', 'deleted']) {
    const seen = await streams.viewer.next();
    t.match(seen, { event: `incident.${event}`, data: { incident_id: made.body['id'], title: 'Payments fail' } });
    const times = seen?.data as Record<'started_at' | 'resolved_at', string | null>;
    for (const at of [times.started_at, times.resolved_at]) {
      if (at !== null) t.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
  }
  await tellOwn(stranger.id);
  t.match(await streams.stranger.next(), { event: 'monitor.resumed' }, 'what is their own comes first');
});
