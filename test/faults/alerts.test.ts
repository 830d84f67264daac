import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../control-plane/src/platform/database/pools.ts';
import { testDatabase } from '../../control-plane/src/platform/database/testing.ts';
import { beginning } from '../../control-plane/src/response/alerts/occasions/change.ts';
import { endOccasionsOf, writeChanges } from '../../control-plane/src/response/alerts/occasions/queries.ts';
import { leaseMs } from '../../control-plane/src/response/alerts/sending/claim/queries.ts';
import { startCrew } from './alerts/crew.ts';

/*
 * Workers are killed when a message of theirs has arrived and before they learn of it. Of each edge, the beginning and the end of a problem, each
 * target has one notification in the end; it has arrived; and what arrived twice did so because of a kill.
 */

/** The longer run of all faults has 120 seconds for each of them. */
const isLong = Number(process.env['PARALLAX_FAULT_SECONDS'] ?? 0) >= 120;
const kills = Number(process.env['PARALLAX_ALERT_KILLS'] ?? (isLong ? 200 : 6));
const problems = Math.max(3, Math.ceil(kills / 3));
const targets = ['a', 'b'];

const row = z.object({
  kind: z.string(),
  status: z.string(),
  message: z.string(),
  subject_id: z.number(),
  target_key: z.string(),
});

void t.test(
  `killed ${kills} times between sending and noting, each edge is noted once and told at least once`,
  { timeout: 1_150_000 },
  async (t) => {
    const { urls, database } = await testDatabase(t);
    const pool = database.worker;
    const owner = await pool.oneFirst(sql.typeAlias('id')`
      insert into users (email, password_hash, plan) values ('a@example.com', 'x', 'self_hosted') returning id`);
    const workspaceId = await pool.oneFirst(sql.typeAlias('id')`
      insert into workspaces (owner_id, name, ping_key) values (${owner}, 'w', 'key') returning id`);
    await pool.query(sql.unsafe`
      insert into workspace_members (workspace_id, user_id, role) values (${workspaceId}, ${owner}, 'owner')`);
    const reader = { channel: 'webhook', config_id: 1, locale: 'en', timezone: 'UTC' };
    const steps = [{ after_seconds: 0, targets: targets.map((target) => ({ ...reader, target })) }];
    await pool.query(sql.unsafe`
      insert into alerts (workspace_id, owner_id, name, covers_all, events, steps, active_since)
      values (${workspaceId}, ${owner}, 'all', true, '{monitor.degraded}', ${JSON.stringify(steps)}::jsonb, 'epoch')`);

    const arrived: { readonly id: string; readonly target: string }[] = [];
    let killed = 0;
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        arrived.push({ id: String(request.headers['webhook-id']), target: (request.url ?? '').slice(1) });
        // Every other message is noted, so that the work goes on.
        if (killed < kills && arrived.length % 2 === 1) {
          killed += 1;
          crew.kill();
        } else {
          response.end();
        }
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const crew = startCrew([JSON.stringify(urls), `http://127.0.0.1:${(server.address() as AddressInfo).port}/`]);
    t.teardown(async () => {
      await crew.end();
      server.close();
      server.closeAllConnections();
    });

    const ids = Array.from({ length: problems }, (_, index) => index + 1);
    const beganMs = Date.now() - 1_000;
    const begun = ids.map((id) =>
      beginning({
        workspaceId,
        key: `degraded:${id}:x`,
        event: 'monitor.degraded',
        subject: { type: 'monitor', id },
        title: `monitor ${id} is degraded`,
        severity: 'minor',
        startedMs: beganMs,
      }),
    );
    await pool.transaction((tx) => writeChanges(tx, begun, beganMs));
    let aheadMs = 0;
    const untilSent = async (wanted: number): Promise<void> => {
      const counts = () =>
        pool.one(sql.type(z.object({ sent: z.number(), lost: z.number() }))`
          select (count(*) filter (where status = 'sent'))::integer as sent,
            (count(*) filter (where status not in ('queued', 'sent')))::integer as lost
          from notifications`);
      for (let now = await counts(); now.sent < wanted; now = await counts()) {
        if (now.lost > 0) throw new Error(`${now.lost} messages were given up`);
        // What the dead one had claimed is free when its time is over.
        await crew.keepWorking(() => (aheadMs += leaseMs + 1_000));
        await delay(20);
      }
    };
    const edges = targets.length * problems;
    await untilSent(edges);
    await pool.transaction(async (tx) => {
      for (const id of ids) await endOccasionsOf(tx, { type: 'monitor', id }, 'auto', Date.now());
    });
    await untilSent(2 * edges);

    const rows = await pool.any(sql.type(row)`
      select n.kind, n.status, 'delivery-' || d.id || '-' || d.message_id as message, n.subject_id, n.target_key
      from notifications n join deliveries d on d.id = n.delivery_id order by n.id`);
    t.equal(rows.length, 2 * edges, 'one notification of each edge to each target');
    t.ok(rows.every(({ status }) => status === 'sent'));
    t.same(
      [...new Set(arrived.map(({ id }) => id))].toSorted(),
      rows.map(({ message }) => message).toSorted(),
      'each has arrived, and nothing else',
    );
    t.equal(killed, kills, 'as many were killed as should be');
    for (const target of targets) {
      const own = arrived.filter((one) => one.target === target).map(({ id }) => id);
      const repetitions = own.length - new Set(own).size;
      t.ok(repetitions <= kills, `${repetitions} repetitions for ${target}`);
    }
    for (const id of ids) {
      const placesOf = (kind: string): number[] =>
        rows
          .filter((each) => each.subject_id === id && each.kind === kind)
          .map(({ message }) => arrived.findLastIndex((one) => one.id === message));
      if (Math.min(...placesOf('resolved')) <= Math.min(...placesOf('opened'))) t.fail(`${id} ended before it began`);
    }
  },
);
