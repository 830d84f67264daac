import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Keyring } from '../../platform/crypto/seal.ts';
import { InstallationError } from '../errors.ts';
import { keyIdOfCheck, sealKeyCheck } from '../fixed.ts';
import { countOthers, resealBatch } from './reseal.ts';
import { sealedPlaces } from './sealed-places.ts';
import type { SealedPlace } from './sealed-places.ts';

export type RotateOptions = {
  /** URL of the worker login. */
  readonly workerUrl: string;
  /** Holds the key before and the one to come. */
  readonly ring: Keyring;
  /** Name of the key to come. */
  readonly target: string;
  readonly tell: (line: string) => void;
  readonly places?: readonly SealedPlace[];
  readonly batchRows?: number;
  /** How long replicas have to take the new key. */
  readonly replicasWithinMs?: number;
};

// They announce themselves every five seconds.
const aliveSeconds = 16;

/**
 * Exchanges the key-encryption key while replicas run: waits until all of them hold the new one, names it in the database as the key that
 * seals, waits until all of them seal with it, and brings every sealed value under it, batch by batch. Whatever was done stays done: started
 * again after an interruption it goes on.
 * @returns how many values were moved
 * @throws InstallationError when another exchange is running, or a replica does not take the new key in time; nothing is broken then
 */
export async function rotateKey(options: RotateOptions): Promise<number> {
  const { ring, target, tell } = options;
  const client = new pg.Client({ connectionString: options.workerUrl, application_name: 'parallax keys rotate' });
  await client.connect();
  try {
    const { rows } = await client.query<{ got: boolean }>(
      "select pg_try_advisory_lock(hashtext('parallax keys rotate')) as got",
    );
    if (rows[0]?.got !== true)
      throw new InstallationError('another exchange of the key is running: wait for it to end');
    await untilReplicas(client, options, 'hold', 'holds_keys @> array[$1::text]');
    await nameKey(client, ring, target);
    ring.sealWith(target);
    tell(`new secrets are sealed with the key ${target}`);
    await untilReplicas(client, options, 'seal with', 'seals_with = $1::text');
    let moved = await moveAll(client, options);
    // What was sealed before its replica changed over may be committed only now.
    await untilOldTransactionsEnd(client);
    moved += await moveAll(client, options);
    return moved;
  } finally {
    await client.end();
  }
}

/** The key check stands under the key that seals: that is what replicas go by. */
async function nameKey(client: pg.Client, ring: Keyring, target: string): Promise<void> {
  const { rows } = await client.query<{ key_check: Buffer }>('select key_check from installation');
  const [row] = rows;
  if (row === undefined) throw new InstallationError('the database was not set up yet');
  if (keyIdOfCheck(row, ring) === target && row.key_check[0] !== 1) return;
  // One statement: the change and its row in the audit log, which belongs to no account.
  await client.query(
    `with named as (update installation set key_check = $1 where key_check = $2 returning true)
     insert into audit_log (actor, action, subject_type, subject_id)
     select 'command', 'key_encryption_key.changed', 'installation', $3 from named`,
    [sealKeyCheck(ring.withKey(target)), row.key_check, target],
  );
}

async function untilReplicas(
  client: pg.Client,
  { target, tell, replicasWithinMs = 60_000 }: RotateOptions,
  what: 'hold' | 'seal with',
  condition: string,
): Promise<void> {
  const deadline = performance.now() + replicasWithinMs;
  for (let told = false; ; told = true) {
    const { rows } = await client.query<{ name: string }>(
      `select name from replicas
       where seen_at > clock_timestamp() - make_interval(secs => ${aliveSeconds}) and (${condition}) is not true order by name`,
      [target],
    );
    if (rows.length === 0) return;
    const names = rows.map((row) => row.name).join(', ');
    if (performance.now() > deadline) {
      throw new InstallationError(
        `these replicas do not ${what} the key ${target}: ${names}. Give them both keys, as PARALLAX_KEY_ENCRYPTION_KEY (the new one) and ` +
          'PARALLAX_KEY_ENCRYPTION_KEY_PREVIOUS or in the key file, restart them, and run this again',
      );
    }
    if (!told) tell(`waiting for these replicas to ${what} the key ${target}: ${names}`);
    await delay(250);
  }
}

/** Passes until nothing is left; rows that somebody holds are met again in the next one. */
async function moveAll(client: pg.Client, options: RotateOptions): Promise<number> {
  const { ring, target, tell, places = sealedPlaces, batchRows = 500, replicasWithinMs = 60_000 } = options;
  let moved = 0;
  for (const place of places) {
    const total = await countOthers(client, place, target);
    let done = 0;
    const deadline = performance.now() + replicasWithinMs;
    for (let left = total; left > 0; left = await countOthers(client, place, target)) {
      const before = done;
      let after: string | undefined;
      for (;;) {
        const batch = await resealBatch(client, ring, place, after, batchRows);
        if (batch === undefined) break;
        after = batch.last;
        done += batch.moved;
        tell(`${place.table}: ${done} of ${Math.max(total, done)}`);
      }
      if (done > before) continue;
      if (performance.now() > deadline) {
        throw new InstallationError(`${left} rows of ${place.table} are held by others: run this again`);
      }
      await delay(200);
    }
    moved += done;
  }
  return moved;
}

async function untilOldTransactionsEnd(client: pg.Client): Promise<void> {
  const now = await client.query<{ id: string }>('select pg_snapshot_xmax(pg_current_snapshot())::text as id');
  const until = now.rows[0]?.id ?? '0';
  // A statement of a request or a worker has at most a minute.
  for (const deadline = performance.now() + 70_000; performance.now() < deadline; await delay(100)) {
    const { rows } = await client.query<{ over: boolean }>(
      'select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 as over',
      [until],
    );
    if (rows[0]?.over === true) return;
  }
}
