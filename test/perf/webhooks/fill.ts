import { makeSigningPair, makeStandardSecret } from '../../../control-plane/src/platform/crypto/webhook-signature.ts';
import type { Sealer } from '../../../control-plane/src/platform/crypto/seal.ts';
import { sealSecrets } from '../../../control-plane/src/response/webhooks/seal.ts';
import type pg from 'pg';

const idleHooks = 5_000;

/** A workspace with a monitor, whose state changes all of its webhooks want. */
export type Workspace = { readonly id: number; readonly monitorId: number };

/** Workspaces with quick receivers; the first has a slow and a dead one beside them, which are switched off. */
export async function fillWorkspaces(
  pool: pg.Pool,
  sealer: Sealer,
  { workspaces, hooks, port }: { readonly workspaces: number; readonly hooks: number; readonly port: number },
): Promise<readonly Workspace[]> {
  const userId = await insertedId(
    pool,
    `insert into users (email, password_hash, plan) values ('bench@example.com', 'x', 'self_hosted') returning id`,
    [],
  );
  const made: Workspace[] = [];
  let hookId = 0;
  for (let place = 1; place <= workspaces; place += 1) {
    const id = await insertedId(
      pool,
      `insert into workspaces (owner_id, name, ping_key) values ($1, 'bench', $2) returning id`,
      [userId, `bench-${place}`],
    );
    const monitorId = await insertedId(
      pool,
      `insert into monitors (workspace_id, owner_id, shard, name, url, protocol, interval_seconds, timeout_seconds, confirmations)
       values ($1, $2, 0, $3, 'https://shop.example/', 'http', 60, 10, 2) returning id`,
      [id, userId, `Shop ${place}`],
    );
    const paths = Array.from({ length: hooks }, (_, n) => `quick/${place}/${n}`);
    for (const path of place === 1 ? [...paths, 'slow', 'dead'] : paths) {
      hookId += 1;
      const pair = makeSigningPair();
      const secrets = {
        url: `http://127.0.0.1:${port}/${path}`,
        headers: {},
        secret: makeStandardSecret(),
        key: pair.privateKey,
        previous: null,
      };
      await pool.query(
        `insert into webhooks (id, workspace_id, name, is_active, sealed, origin, header_names, public_key, events, covers_all,
           during_maintenance, signature, content)
         overriding system value values ($1 + 10000, $2, $3, $4, $5, 'http://127.0.0.1', '{}', $6, '{*}', true, 'send', 'v1', 'full')`,
        [hookId, id, path, path.startsWith('quick'), sealSecrets(sealer, 10_000 + hookId, secrets), pair.publicKey],
      );
    }
    made.push({ id, monitorId });
  }
  // Those of others, for which nothing waits: an installation has many, and no claim may read them all.
  const idle = await insertedId(
    pool,
    `insert into workspaces (owner_id, name, ping_key) values ($1, 'idle', 'idle') returning id`,
    [userId],
  );
  await pool.query(
    `insert into webhooks (workspace_id, name, sealed, origin, header_names, public_key, events, covers_all, during_maintenance, signature, content)
     select $1, 'idle', sealed, origin, header_names, public_key, events, covers_all, during_maintenance, signature, content
     from webhooks, generate_series(1, $2::integer) where id = 10001`,
    [idle, idleHooks],
  );
  return made;
}

/** Switches the slow and the dead receiver on or off; what waits for them is dropped. */
export async function switchBad(pool: pg.Pool, isActive: boolean): Promise<void> {
  await pool.query(`update webhooks set is_active = $1 where name in ('slow', 'dead')`, [isActive]);
  if (isActive) return;
  await pool.query(
    `update webhook_deliveries set state = 'missed', leased_by = null
     where state = 'queued' and webhook_id in (select id from webhooks where name in ('slow', 'dead'))`,
  );
}

/** One state change in each of so many workspaces, as consumers of the outbox note them. */
export async function change(pool: pg.Pool, workspaces: readonly Workspace[], rounds = 1): Promise<void> {
  await pool.query(
    `insert into event_inbox (key, kind, payload, at)
     select 'monitor:' || w.monitor_id, 'monitor.flapping',
       jsonb_build_object('monitor_id', w.monitor_id, 'workspace_id', w.id, 'is_flapping', round % 2 = 0), $3
     from generate_series(1, $4::integer) as round, unnest($1::integer[], $2::integer[]) as w (id, monitor_id)`,
    [workspaces.map(({ id }) => id), workspaces.map(({ monitorId }) => monitorId), new Date(), rounds],
  );
}

/** So many deliveries that wait, spread over all webhooks, each of an event of its own. */
export async function fillQueue(pool: pg.Pool, count: number): Promise<void> {
  await pool.query(
    `insert into events (event_id, workspace_id, type, subject_type, subject_id, sequence, body, at)
     select 'evt_queued_' || n, h.workspace_id, 'monitor.flapping', 'monitor', 1, n, '{"data":{}}', now()
     from generate_series(1, $1::integer) n
       join (select workspace_id, row_number() over (order by id) - 1 as place, count(*) over () as all from webhooks where id > 10000) h
         on h.place = n % h.all`,
    [count],
  );
  await pool.query(
    `insert into webhook_deliveries (workspace_id, webhook_id, event_id, type, event_at, state, due_at)
     select h.workspace_id, h.id, 'evt_queued_' || n, 'monitor.flapping', now(), 'queued', now()
     from generate_series(1, $1::integer) n
       join (select id, workspace_id, row_number() over (order by id) - 1 as place, count(*) over () as all from webhooks where id > 10000) h
         on h.place = n % h.all`,
    [count],
  );
}

async function insertedId(pool: pg.Pool, text: string, values: readonly unknown[]): Promise<number> {
  const { rows } = await pool.query<{ id: number }>(text, [...values]);
  const [row] = rows;
  if (row === undefined) throw new Error('nothing was inserted');
  return row.id;
}
