import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import type { Keyring } from '../../platform/crypto/seal.ts';
import { sql } from '../../platform/database/pools.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { keyIdOfCheck } from '../fixed.ts';
import { findKeys } from '../key-encryption-key.ts';
import type { KeySource } from '../key-encryption-key.ts';
import type { TableSignals } from '../../platform/database/table-signals.ts';

export type KeyWatchOptions = {
  /** A pool of the worker login. */
  readonly pool: DatabasePool;
  readonly ring: Keyring;
  /** Read again at each look, since a key in the data folder may get a successor while the process runs. */
  readonly source: KeySource;
  /** This process in the table of replicas. */
  readonly replica: string;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly everyMs?: number;
  /** Tells that another key counts from now on; absent: the database is asked at each look. */
  readonly signals?: Pick<TableSignals, 'on' | 'isHeard'>;
};

/** The database is asked so often although nothing was signalled. */
const askEveryMs = 10_000;

const checkRow = z.object({ key_check: z.instanceof(Buffer) });

/**
 * Keeps a process sealing with the key that the installation names, and tells the others which keys it holds: by that a key is exchanged
 * while replicas run.
 * @throws when the database does not answer at the start
 */
export async function startKeyWatch(options: KeyWatchOptions): Promise<RunningService & { look: () => Promise<void> }> {
  const { pool, ring, source, replica, log, everyMs = 2_000, signals } = options;
  let isSignalled = false;
  let told = '';
  let askedMs = Number.NEGATIVE_INFINITY;
  const listening = signals?.on(['installation'], () => {
    isSignalled = true;
  });
  const isQuiet = (): boolean =>
    !isSignalled &&
    signals?.isHeard() === true &&
    ring.holds().join() === told &&
    performance.now() - askedMs < askEveryMs;
  const look = async (): Promise<void> => {
    ring.add((await findKeys(source)) ?? []);
    if (isQuiet()) return;
    isSignalled = false;
    askedMs = performance.now();
    const row = await pool.one(sql.type(checkRow)`select key_check from installation`);
    const wanted = keyIdOfCheck(row, ring);
    if (wanted === undefined || !ring.holds().includes(wanted)) {
      log.error(
        { key_id: wanted },
        'the key-encryption key was exchanged and this process does not hold the new one: give it both keys and restart it',
      );
    } else if (wanted !== ring.sealsWith()) {
      ring.sealWith(wanted);
      log.info({ key_id: wanted }, 'secrets are sealed with another key-encryption key from now on');
    }
    await pool.query(sql.unsafe`
      update replicas set seals_with = ${ring.sealsWith()}, holds_keys = ${sql.array([...ring.holds()], 'text')}
      where name = ${replica}
        and (seals_with, holds_keys) is distinct from (${ring.sealsWith()}, ${sql.array([...ring.holds()], 'text')})`);
    told = ring.holds().join();
  };
  await look();
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    looking ??= look()
      .catch((error: unknown) => log.warn({ err: error }, 'which key-encryption key counts could not be read'))
      .finally(() => {
        looking = undefined;
      });
  }, everyMs);
  return {
    look,
    stop: async () => {
      clearInterval(timer);
      listening?.stop();
      await looking;
    },
  };
}
