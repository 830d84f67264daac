import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { beginning } from '../occasions/change.ts';
import { endOccasionsOf, writeChanges } from '../occasions/queries.ts';
import { target } from '../testing.ts';
import { leaseMs } from './claim/queries.ts';

/** `PARALLAX_ALERT_KILLS=200` for the long form. */
const kills = Number(process.env['PARALLAX_ALERT_KILLS'] ?? 6);

const row = z.object({
  kind: z.string(),
  status: z.string(),
  message: z.string(),
  subject_id: z.number(),
  target_key: z.string(),
});

void t.test(
  'a worker that dies between sending and noting costs a repetition, and nothing is lost or noted twice',
  async (t) => {
    const { urls, database } = await testDatabase(t);
    const pool = database.worker;
    const user = await pool.oneFirst(sql.typeAlias('id')`
    insert into users (email, password_hash, plan) values ('a@example.com', 'x', 'self_hosted') returning id`);
    const workspaceId = await pool.oneFirst(sql.typeAlias('id')`
    insert into workspaces (owner_id, name, ping_key) values (${user}, 'w', 'key') returning id`);
    await pool.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) values (${workspaceId}, ${user}, 'owner')`);
    await pool.query(sql.unsafe`
    insert into alerts (workspace_id, owner_id, name, covers_all, events, steps, active_since)
    values (${workspaceId}, ${user}, 'all', true, '{monitor.degraded}', ${JSON.stringify([{ after_seconds: 0, targets: [target('a'), target('b')] }])}::jsonb,
      'epoch')`);

    const arrived: string[] = [];
    let child: ChildProcess | undefined;
    let killed = 0;
    const server = createServer((request, response) => {
      let id = '';
      request.setEncoding('utf8').on('data', (part: string) => {
        id += part;
      });
      request.on('end', () => {
        arrived.push(id);
        // It has arrived, and whoever sent it never learns of it.
        if (killed < kills && arrived.length % 2 === 1) {
          killed += 1;
          child?.kill('SIGKILL');
        } else {
          response.end();
        }
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => {
      child?.kill('SIGKILL');
      server.close();
      server.closeAllConnections();
    });
    const receiver = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

    const problems = Math.max(3, Math.ceil(kills / 4));
    const ids = Array.from({ length: problems }, (_, index) => index + 1);
    await pool.transaction((tx) =>
      writeChanges(
        tx,
        ids.map((id) =>
          beginning({
            workspaceId,
            key: `degraded:${id}:x`,
            event: 'monitor.degraded',
            subject: { type: 'monitor', id },
            title: `monitor ${id} is degraded`,
            severity: 'minor',
            startedMs: Date.now() - 1_000,
          }),
        ),
        Date.now() - 1_000,
      ),
    );
    let aheadMs = 0;
    const untilSent = async (wanted: number): Promise<void> => {
      for (;;) {
        if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
          // What the dead one had claimed is free when its time is over.
          aheadMs += leaseMs + 1_000;
          const fixture = path.join(import.meta.dirname, 'killed.fixture.ts');
          child = spawn(process.execPath, [fixture, JSON.stringify(urls), receiver, String(aheadMs)], {
            stdio: ['ignore', 'ignore', 'inherit'],
          });
        }
        const sent = await pool.oneFirst(sql.type(z.object({ n: z.number() }))`
        select count(*)::integer as n from notifications where status = 'sent'`);
        if (sent >= wanted) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    await untilSent(2 * problems);
    await pool.transaction(async (tx) => {
      for (const id of ids) await endOccasionsOf(tx, { type: 'monitor', id }, 'auto', Date.now());
    });
    await untilSent(4 * problems);
    t.equal(killed, kills);

    const rows = await pool.any(sql.type(row)`
    select n.kind, n.status, 'delivery-' || d.id || '-' || d.message_id as message, n.subject_id, n.target_key
      from notifications n join deliveries d on d.id = n.delivery_id order by n.id`);
    t.equal(rows.length, 4 * problems, 'one of each');
    t.ok(rows.every(({ status }) => status === 'sent'));
    t.same(
      [...new Set(arrived)].toSorted(),
      rows.map(({ message }) => message).toSorted(),
      'each has arrived, and nothing else',
    );
    // One is under way to each target at any time, so a kill costs each of them one repetition at most.
    for (const name of ['a', 'b']) {
      const own = new Set(rows.filter((each) => each.target_key === `email:${name}`).map(({ message }) => message));
      const repetitions = arrived.filter((id) => own.has(id)).length - own.size;
      t.ok(repetitions <= kills, `${repetitions} repetitions for ${name}`);
    }
    for (const id of ids) {
      const [began, ended] = ['opened', 'resolved'].map((kind) =>
        rows
          .filter((each) => each.subject_id === id && each.kind === kind)
          .map(({ message }) => arrived.lastIndexOf(message)),
      );
      t.ok(Math.min(...(ended ?? [])) > Math.min(...(began ?? [])), 'the end comes after the beginning');
    }
  },
);
