import pg from 'pg';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '@parallax/telemetry';
import type { RunningService } from '../../../platform/running-service.ts';
import type { Bus } from '../../../platform/bus/bus.ts';
import type { CentralRunner } from '../../central-checks/index.ts';
import { ShardOwner } from './owner.ts';
import type { LiveNews } from './live.ts';
import { ownerLimits } from './owner-options.ts';
import type { CommittedRound, OwnerLimits } from './owner-options.ts';
import type { Reader } from './windows/queries.ts';
import { createBell } from './waiting.ts';
import { OwnershipLostError } from './write.ts';

export type ShardOptions = {
  readonly shard: number;
  /** Shards of the installation. */
  readonly shards: number;
  /** This process among replicas. */
  readonly replica: string;
  /** Opens a connection of its own for a shard: it holds the session's lock and writes. */
  readonly openClient: () => Promise<pg.Client>;
  readonly reader: Reader;
  readonly connection: NatsConnection;
  readonly bus: Bus;
  readonly log: Logger;
  /** The database's clock, milliseconds. */
  readonly now: () => number;
  readonly limits?: Partial<OwnerLimits> | undefined;
  /** Whether changes of the configuration are hinted at now, by whomever they are made; absent: they are not. */
  readonly areChangesTold?: (() => boolean) | undefined;
  /** Runs the control plane's own checks; absent: there are none. */
  readonly central?: CentralRunner | undefined;
  /** How often a shard that another owns is looked at; 1 s when absent. */
  readonly claimEveryMs?: number | undefined;
  /** Hears of what is committed, for those who watch. */
  readonly live?: Pick<LiveNews, 'tell'> | undefined;
  readonly onCommitted?: ((round: CommittedRound) => void) | undefined;
};

export type RunningShard = RunningService & {
  /** Looks at the configuration at once. */
  readonly hint: () => void;
};

// Any class of advisory locks that nothing else on this database uses; the second number is the shard.
const lockClass = 715_203_702;
/** An owner that has not renewed for so long has hung, whether or not its session lives. */
const hungAfterS = 10;
const longestPauseMs = 5_000;

/**
 * Works a shard whenever nobody else does: claims it, owns it until something fails, drops everything and claims it anew. The lock of the
 * session tells at once that an owner is dead; what keeps a stale one from writing is the term.
 */
export function startShard(options: ShardOptions): RunningShard {
  const log = options.log.child({ part: 'ingest', shard: options.shard });
  const bell = createBell();
  const stopping = new AbortController();
  let owner: ShardOwner | undefined;

  async function run(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      let pauseMs = options.claimEveryMs ?? 1_000;
      try {
        if (await isClaimable(options.reader, options.shard)) {
          await claimAndOwn();
          failures = 0;
        }
      } catch (error) {
        failures += 1;
        pauseMs = Math.min(longestPauseMs, 50 * 2 ** Math.min(failures, 7));
        if (error instanceof OwnershipLostError) log.warn({ err: error }, 'the shard is not ours any more');
        else log.warn({ err: error }, 'ingest failed; the shard is read anew');
      }
      if (!stopping.signal.aborted) await bell.wait(pauseMs);
    }
  }

  async function claimAndOwn(): Promise<void> {
    const client = await options.openClient();
    // The error of a query says what happened; without a listener the same would end the process.
    client.on('error', () => undefined);
    try {
      const claimed = await claim(client, options.shard, options.replica);
      if (claimed === undefined) return;
      const ownership = { shard: options.shard, owner: options.replica, term: claimed.term };
      owner = new ShardOwner({
        ...options,
        log,
        client,
        ownership,
        foldedUntilUs: claimed.foldedUntilUs,
        limits: { ...ownerLimits, ...options.limits },
      });
      if (stopping.signal.aborted) owner.stop();
      await owner.finished;
      await client.query(
        'update shards set owner = null, renewed_at = null where shard = $1 and owner = $2 and term = $3',
        [ownership.shard, ownership.owner, ownership.term],
      );
    } finally {
      owner = undefined;
      await client.end().catch(() => undefined);
    }
  }

  const running = run();
  return {
    hint: () => owner?.hint(),
    stop: async () => {
      stopping.abort();
      bell.ring();
      owner?.stop();
      await running;
    },
  };
}

const lockHolders = `select l.pid from pg_locks l
  where l.locktype = 'advisory' and l.classid = ${lockClass} and l.objid = ($1::integer)::oid and l.objsubid = 2 and l.granted
    and l.database = (select oid from pg_database where datname = current_database())`;
const hasHung = `(owner is null or renewed_at is null or renewed_at < clock_timestamp() - make_interval(secs => ${hungAfterS}))`;

/** True when nobody owns the shard, or its owner is dead or has hung. */
async function isClaimable(reader: Reader, shard: number): Promise<boolean> {
  const found = await reader.query<{ claimable: boolean }>(
    `select (${hasHung} or not exists (${lockHolders})) as claimable from shards where shard = $1`,
    [shard],
  );
  if (found.rows.length === 0)
    throw new Error(`the database has no shard ${shard}: PARALLAX_SHARDS is fixed at installation`);
  return found.rows[0]?.claimable === true;
}

/** Takes the lock, ending the session of an owner that has hung, and begins a new term. Undefined when another was faster. */
async function claim(
  client: pg.Client,
  shard: number,
  replica: string,
): Promise<{ readonly term: number; readonly foldedUntilUs: number | undefined } | undefined> {
  const takeLock = async (): Promise<boolean> => {
    const answer = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1, $2) as locked', [
      lockClass,
      shard,
    ]);
    return answer.rows[0]?.locked === true;
  };
  if (!(await takeLock())) {
    const hung = await client.query(`select from shards where shard = $1 and ${hasHung}`, [shard]);
    if (hung.rowCount === 0) return undefined;
    // It may sit in a transaction that locks the shard's row. What it has not committed by now comes again.
    await client.query(`select pg_terminate_backend(pid, 2000) from (${lockHolders}) as holder`, [shard]);
    if (!(await takeLock())) return undefined;
  }
  const claimed = await client.query<{ term: string; folded_us: string | null }>(
    `update shards set owner = $2, term = term + 1, renewed_at = clock_timestamp() where shard = $1
     returning term, (extract(epoch from folded_until) * 1000000)::bigint as folded_us`,
    [shard, replica],
  );
  const row = claimed.rows[0];
  if (row === undefined) return undefined;
  return { term: Number(row.term), foldedUntilUs: row.folded_us === null ? undefined : Number(row.folded_us) };
}

/** A connection with limits that end it rather than let it hang with locks held. */
export async function openIngestClient(connectionString: string, applicationName: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString,
    application_name: applicationName,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    statement_timeout: 60_000,
    idle_in_transaction_session_timeout: 60_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
