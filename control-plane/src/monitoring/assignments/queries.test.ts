import { randomBytes } from 'node:crypto';
import type { Assignment } from '@parallax/wire';
import t from 'tap';
import { z } from 'zod';
import { createSealer } from '../../platform/crypto/seal.ts';
import { sql } from '../../platform/database/pools.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import { inScope } from '../../platform/database/scope.ts';
import { makeMonitors, makeProbes, makeWorkspace } from '../../testing/probes.ts';
import { rebalanceAll } from './job.ts';
import {
  assignMonitor,
  closeAssignments,
  deltaSince,
  presentRevision,
  secretsContext,
  snapshotFor,
  touchAssignments,
  touchSeatsOfProbe,
} from './queries.ts';
import { snapshotHash } from './snapshot.ts';
import { supplementAll } from './supplements/job.ts';

const { database } = await testDatabase(t);
const sealer = createSealer(randomBytes(32));
const unreadable: number[] = [];
const reader = {
  pool: database.worker,
  sealer,
  everybodysTargets: [],
  obeysPrivateTargets: true,
  onUnreadable: (monitorId: number) => void unreadable.push(monitorId),
};
const owner = await makeWorkspace(database);

/** What an agent holds: it applies snapshots and deltas as session.proto says, and knows nothing else. */
class Agent {
  known = 0n;
  readonly held = new Map<number, bigint>();
  readonly probeId: number;
  transferred = 0;

  constructor(probeId: number) {
    this.probeId = probeId;
  }

  async connect(limit?: number): Promise<void> {
    if (this.known === 0n) {
      const snapshot = await snapshotFor(reader, this.probeId);
      this.held.clear();
      for (const { monitorId, revision } of snapshot.assignments) this.held.set(monitorId, revision);
      this.transferred += snapshot.assignments.length;
      this.known = snapshot.revision;
    }
    await this.catchUp(limit);
  }

  async catchUp(limit?: number): Promise<void> {
    for (;;) {
      const { steps, isComplete } = await deltaSince(reader, this.probeId, this.known, limit);
      for (const step of steps) {
        for (const { monitorId, revision } of step.changed) this.#apply(monitorId, revision, true);
        for (const { monitorId, revision } of step.removed) this.#apply(monitorId, revision, false);
        this.transferred += step.changed.length + step.removed.length;
        this.known = step.revision;
      }
      if (isComplete) return;
    }
  }

  #apply(monitorId: number, revision: bigint, isSet: boolean): void {
    if (revision <= (this.held.get(monitorId) ?? 0n)) return;
    if (isSet) this.held.set(monitorId, revision);
    else this.held.delete(monitorId);
  }
}

const wantedRow = z.object({ monitor_id: z.number(), revision: z.bigint() });

async function wantedSet(probeId: number): Promise<Map<number, bigint>> {
  const rows = await database.worker.any(sql.type(wantedRow)`
    select a.monitor_id, a.revision from assignments a join monitors m on m.id = a.monitor_id join probes p on p.id = a.probe_id
    where a.probe_id = ${probeId} and a.ended_at is null and m.is_active and m.deleted_at is null
      and not p.is_paused and p.revoked_at is null order by 1`);
  return new Map(rows.map((row) => [row.monitor_id, row.revision]));
}

function sorted(held: Map<number, bigint>): [number, bigint][] {
  return [...held].sort(([a], [b]) => a - b);
}

t.test(
  'after any sequence of changes and reconnects an agent holds exactly the open seats of active monitors',
  async (t) => {
    const probeIds = await makeProbes(database, [
      { name: 'model-1', region: 'eu' },
      { name: 'model-2', region: 'us' },
      { name: 'model-3', region: 'eu' },
      { name: 'model-4', region: 'asia' },
    ]);
    const agents = probeIds.map((id) => new Agent(id));
    const monitors = await makeMonitors(database, owner, 12);
    let seed = 42;
    const pick = <Item>(items: readonly Item[]): Item => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return items[(seed >>> 16) % items.length] as Item;
    };
    const change = async (): Promise<void> => {
      const monitorId = pick(monitors);
      const kind = pick([
        'assign',
        'name',
        'touch',
        'pause',
        'resume',
        'delete',
        'pause probe',
        'move',
        'rebalance',
        'lose or find',
        'lose for a day or find',
      ] as const);
      await database.worker.transaction(async (tx) => {
        const locked = await tx.maybeOne(sql.typeAlias('id')`
        select id from monitors where id = ${monitorId} and deleted_at is null for no key update`);
        if (locked === null) return;
        if (kind === 'assign') await assignMonitor(tx, monitorId);
        if (kind === 'name') {
          const named = pick([null, [pick(probeIds)], [pick(probeIds), pick(probeIds)]]);
          await tx.query(sql.unsafe`
          update monitors set wanted_probe_ids = ${named === null ? null : sql.array(named, 'int4')} where id = ${monitorId}`);
          await assignMonitor(tx, monitorId);
        }
        if (kind === 'touch') await touchAssignments(tx, monitorId);
        if (kind === 'pause' || kind === 'resume') {
          await tx.query(sql.unsafe`update monitors set is_active = ${kind === 'resume'} where id = ${monitorId}`);
          await touchAssignments(tx, monitorId);
        }
        if (kind === 'delete' && pick([true, false, false, false, false, false])) {
          await tx.query(sql.unsafe`update monitors set deleted_at = now() where id = ${monitorId}`);
          await closeAssignments(tx, monitorId);
        }
        if (kind === 'pause probe') {
          const probeId = pick(probeIds);
          await tx.query(sql.unsafe`update probes set is_paused = not is_paused where id = ${probeId}`);
          await touchSeatsOfProbe(tx, probeId);
        }
        if (kind === 'move') {
          await tx.query(
            sql.unsafe`update probes set region = ${pick(['eu', 'us', 'asia'])} where id = ${pick(probeIds)}`,
          );
        }
      });
      if (kind === 'move' || kind === 'rebalance') await rebalanceAll(database.worker);
      if (kind === 'lose or find' || kind === 'lose for a day or find') {
        await database.worker.query(sql.unsafe`
          update probes set offline_since = case when offline_since is null then now() - ${kind === 'lose or find' ? 1 : 25} * interval '1 hour' end
          where id = ${pick(probeIds)}`);
        await supplementAll(database.worker, { nowMs: Date.now() });
      }
    };
    for (let round = 0; round < 120; round += 1) {
      await change();
      const agent = pick(agents);
      if (pick([true, false, false, false])) agent.known = pick([0n, agent.known]);
      if (pick([true, true, false])) await agent.connect(pick([1, 2, 500]));
    }
    for (const agent of agents) {
      await agent.connect();
      t.same(sorted(agent.held), sorted(await wantedSet(agent.probeId)), `probe ${agent.probeId}`);
      t.equal(agent.known, await presentRevision(database.worker, agent.probeId));
    }
    t.ok(agents.some((agent) => agent.held.size > 0));
    t.ok(
      await database.worker.exists(sql.unsafe`select from assignments where supplement`),
      'supplements were among them',
    );
    await database.worker.query(sql.unsafe`update probes set revoked_at = now()`);
  },
);

t.test('a snapshot that is read while changes are made, followed by deltas, ends at the truth', async (t) => {
  const [probeId = 0] = await makeProbes(database, [{ name: 'busy', region: 'eu' }]);
  const monitors = await makeMonitors(database, owner, 1_200);
  await rebalanceAll(database.worker);
  const agent = new Agent(probeId);
  const writing = (async () => {
    for (const monitorId of monitors.slice(0, 60)) {
      await database.worker.transaction(async (tx) => {
        await tx.query(sql.unsafe`update monitors set is_active = not is_active where id = ${monitorId}`);
        await touchAssignments(tx, monitorId);
      });
    }
  })();
  await agent.connect();
  await writing;
  await agent.catchUp();
  t.same(sorted(agent.held), sorted(await wantedSet(probeId)));
  t.ok(agent.held.size >= 1_000);
  await database.worker.query(sql.unsafe`update probes set revoked_at = now()`);
});

t.test('writers of many monitors and probes at once neither deadlock nor share a revision', async (t) => {
  const probeIds = await makeProbes(database, [
    { name: 'crowd-1', region: 'eu' },
    { name: 'crowd-2', region: 'us' },
    { name: 'crowd-3', region: 'asia' },
  ]);
  const monitors = await makeMonitors(database, owner, 40);
  await Promise.all(
    monitors.map((monitorId, index) =>
      database.worker.transaction(async (tx) => {
        const order = index % 2 === 0 ? probeIds : probeIds.toReversed();
        await tx.query(
          sql.unsafe`update monitors set wanted_probe_ids = ${sql.array(order, 'int4')} where id = ${monitorId}`,
        );
        await assignMonitor(tx, monitorId);
        await touchAssignments(tx, monitorId);
      }),
    ),
  );
  const { total, distinct } = await database.worker.one(sql.type(z.object({ total: z.number(), distinct: z.number() }))`
    select count(*)::int as total, count(distinct (probe_id, revision))::int as distinct
    from assignments where probe_id = any (${sql.array(probeIds, 'int4')})`);
  t.same([total, distinct], [120, 120]);
  await database.worker.query(sql.unsafe`update probes set revoked_at = now()`);
});

t.test(
  'monitors that were made before the first probe are given to it, and new ones to later probes, in the background',
  async (t) => {
    const [monitorId = 0] = await makeMonitors(database, owner, 1);
    const assign = () => database.worker.transaction((tx) => assignMonitor(tx, monitorId));
    t.same(await assign(), [], 'no probe at all: central, without seats');
    const [first = 0] = await makeProbes(database, [{ name: 'first', region: 'eu' }]);
    t.ok((await rebalanceAll(database.worker)) > 0);
    t.ok((await wantedSet(first)).has(monitorId));
    const slow = new Agent(first);
    await slow.connect(1);
    await makeMonitors(database, owner, 5);
    await rebalanceAll(database.worker);
    await slow.catchUp(1);
    t.same(sorted(slow.held), sorted(await wantedSet(first)), 'seats that were written together each have a revision');
    const [second = 0] = await makeProbes(database, [{ name: 'second', region: 'eu' }]);
    await rebalanceAll(database.worker);
    t.ok((await wantedSet(second)).has(monitorId));
    t.equal(await rebalanceAll(database.worker), 0, 'nothing is left to do');
    await database.worker.query(sql.unsafe`update probes set revoked_at = now() where id = ${first}`);
    await rebalanceAll(database.worker);
    t.notOk((await wantedSet(first)).has(monitorId), 'the seat of a revoked probe is given up');
    await database.worker.query(sql.unsafe`update probes set revoked_at = now()`);
  },
);

t.test('every change of seats marks the monitor for the ingest', async (t) => {
  await makeProbes(database, [{ name: 'marks', region: 'eu' }]);
  const [monitorId = 0] = await makeMonitors(database, owner, 1);
  const mark = async (): Promise<string> => {
    const row = await database.worker.one(sql.type(z.object({ mark: z.string() }))`
      select changed_xid::text as mark from monitors where id = ${monitorId}`);
    return row.mark;
  };
  const seen = [await mark()];
  for (const work of [assignMonitor, touchAssignments, closeAssignments]) {
    await database.worker.transaction((tx) => work(tx, monitorId));
    seen.push(await mark());
  }
  t.equal(new Set(seen).size, 4);
  await database.worker.query(sql.unsafe`update probes set revoked_at = now()`);
});

t.test('secrets travel opened inside the settings, and one that does not open harms no other monitor', async (t) => {
  const [probeId = 0] = await makeProbes(database, [{ name: 'secrets', region: 'eu' }]);
  const [good = 0, bad = 0] = await makeMonitors(database, owner, 2);
  const sealed = sealer.seal(JSON.stringify({ password: 'hush' }), secretsContext(good));
  await database.worker.query(
    sql.unsafe`update monitors set sealed_secrets = ${sql.binary(sealed)} where id in (${good}, ${bad})`,
  );
  for (const id of [good, bad]) await database.worker.transaction((tx) => assignMonitor(tx, id));
  const { assignments, hash } = await snapshotFor(reader, probeId);
  const held = assignments.find((one: Assignment) => one.monitorId === good);
  t.same(JSON.parse(held?.settingsJson.toString() ?? '{}'), { method: 'GET', password: 'hush' });
  t.notOk(assignments.some((one) => one.monitorId === bad));
  t.ok(unreadable.includes(bad), 'named');
  t.same(hash, snapshotHash(assignments));
  await database.worker.query(sql.unsafe`update probes set revoked_at = now()`);
});

t.test("requests assign within their tenant's rights; a wish that cannot be met changes nothing", async (t) => {
  const other = await makeWorkspace(database);
  const [shared = 0, own = 0, foreign = 0] = await makeProbes(database, [
    { name: 'shared', region: 'eu' },
    { name: 'own', region: 'us', workspaceId: owner.workspaceId },
    { name: 'foreign', region: 'asia', workspaceId: other.workspaceId },
  ]);
  const [monitorId = 0] = await makeMonitors(database, owner, 1);
  const asTenant = (named: number[] | null) =>
    inScope(database.api, { userId: owner.userId, workspaceIds: [owner.workspaceId] }, async (tx) => {
      await tx.query(sql.unsafe`
        update monitors set wanted_probe_ids = ${named === null ? null : sql.array(named, 'int4')} where id = ${monitorId}`);
      return assignMonitor(tx, monitorId);
    });
  t.same(new Set(await asTenant(null)), new Set([shared, own]), 'public and own private probes, not a foreign one');
  await t.rejects(asTenant([foreign]), { code: 'invalid_input' });
  t.ok((await wantedSet(own)).has(monitorId), 'the seats are as before');
  await database.worker.query(sql.unsafe`update monitors set settings = '{"ip_version": 6}' where id = ${monitorId}`);
  await t.rejects(asTenant(null), { code: 'no_probe_able' });
});
