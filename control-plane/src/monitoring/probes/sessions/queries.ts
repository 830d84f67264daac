import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { adoptCertificate } from '../restored/queries.ts';
import type { DispatchPosition } from '../dispatch-messages.ts';

/** Seconds without a heartbeat after which a probe is lost (rule 10 of the consensus). */
export const lostAfterSeconds = 45;

/** Who a stream's certificate says it is. */
export type PresentedIdentity = {
  readonly probeId: number;
  readonly serial: string;
  readonly publicKeyFingerprint: string;
  /** The certificate itself; this installation's authority signed it. */
  readonly certificateDer: Uint8Array;
};

export type OpenedSession = {
  readonly sessionId: number;
  readonly name: string;
  readonly region: string;
  readonly signingPublicKey: Buffer;
  /** It belongs to a workspace. */
  readonly isPrivate: boolean;
};

export type SessionFacts = {
  readonly bootId: string;
  readonly agentVersion: string;
  readonly capabilities: readonly string[];
  readonly publicAddresses: readonly string[];
  readonly sourceAddresses: readonly string[];
  readonly knownRevision: bigint;
  readonly replica: string;
  readonly remoteAddress: string | null;
};

const admittedRow = z.object({
  name: z.string(),
  region: z.string(),
  signing_public_key: z.instanceof(Buffer),
  was_offline: z.boolean(),
  is_private: z.boolean(),
});

/**
 * Opens a session if certificate and probe are known, unrevoked and not expired; closes the one before. The probe's row is
 * locked meanwhile, so of two streams at the same time the later one wins everywhere.
 * @returns undefined when the identity is not admitted
 */
export async function openSession(
  pool: DatabasePool,
  identity: PresentedIdentity,
  facts: SessionFacts,
): Promise<OpenedSession | undefined> {
  return pool.transaction(async (tx) => {
    let probe = await admit(tx, identity);
    if (probe === null && (await adoptCertificate(tx, identity.probeId, identity.certificateDer)))
      probe = await admit(tx, identity);
    if (probe === null) return undefined;
    await tx.query(sql.unsafe`
      update probe_sessions set closed_at = now(), close_reason = 'superseded'
      where probe_id = ${identity.probeId} and closed_at is null`);
    const session = await tx.one(sql.type(z.object({ id: z.bigint() }))`
      insert into probe_sessions (probe_id, boot_id, replica, remote_address, applied_revision)
      values (${identity.probeId}, ${facts.bootId}, ${facts.replica}, ${facts.remoteAddress}, ${facts.knownRevision})
      returning id`);
    await tx.query(sql.unsafe`
      update probes set last_seen_at = now(), offline_since = null,
        returned_at = case when offline_since is null then returned_at else now() end, agent_version = ${facts.agentVersion},
        capabilities = ${sql.array([...facts.capabilities], 'text')},
        public_addresses = ${sql.array([...facts.publicAddresses], 'text')},
        source_addresses = ${sql.array([...facts.sourceAddresses], 'text')}
      where id = ${identity.probeId}`);
    if (probe.was_offline) await noticeProbe(tx, 'probe.online', identity.probeId, probe.name, probe.region);
    return {
      sessionId: Number(session.id),
      name: probe.name,
      region: probe.region,
      signingPublicKey: probe.signing_public_key,
      isPrivate: probe.is_private,
    };
  });
}

/** Locks the probe that a certificate names, if both are known, unrevoked and not expired. */
function admit(tx: Transaction, identity: PresentedIdentity): Promise<z.infer<typeof admittedRow> | null> {
  return tx.maybeOne(sql.type(admittedRow)`
    select probe.name, probe.region, probe.signing_public_key, probe.offline_since is not null as was_offline,
      probe.workspace_id is not null as is_private
    from probes probe join probe_certificates certificate on certificate.probe_id = probe.id
    where probe.id = ${identity.probeId} and certificate.serial = ${identity.serial}
      and certificate.key_fingerprint = ${identity.publicKeyFingerprint}
      and probe.revoked_at is null and certificate.revoked_at is null and certificate.not_after > now()
    for no key update of probe`);
}

/** Notes that a session is over; nothing when another has superseded it. The probe was seen until its last sign of life. */
export async function closeSession(
  pool: DatabasePool,
  sessionId: number,
  reason: string,
  idleMs: number,
): Promise<void> {
  await pool.transaction(async (tx) => {
    const closed = await tx.maybeOne(sql.type(z.object({ probe_id: z.number() }))`
      update probe_sessions set closed_at = now(), close_reason = ${reason.slice(0, 200)}
      where id = ${sessionId} and closed_at is null returning probe_id`);
    if (closed === null) return;
    await tx.query(sql.unsafe`
      update probes set last_seen_at = greatest(last_seen_at, now() - ${idleMs} * interval '1 millisecond')
      where id = ${closed.probe_id}`);
  });
}

/** What a session last told, as it is written in batches. */
export type SessionReport = {
  readonly sessionId: number;
  readonly idleMs: number;
  readonly appliedRevision: bigint;
  readonly oldestUnacknowledgedMs: number;
  readonly inFlight: number;
  readonly damagedRecords: number;
};

/** Writes the reports of many sessions in one statement. */
export async function writeReports(pool: CommonQueryMethods, reports: readonly SessionReport[]): Promise<void> {
  if (reports.length === 0) return;
  await pool.query(sql.unsafe`
    update probe_sessions set
      last_heartbeat_at = greatest(last_heartbeat_at, now() - report.idle_ms * interval '1 millisecond'),
      applied_revision = report.applied_revision,
      oldest_unacknowledged_ms = report.oldest_unacknowledged_ms,
      in_flight = report.in_flight,
      damaged_records = report.damaged_records
    from ${sql.unnest(
      reports.map((report) => [
        report.sessionId,
        report.idleMs,
        report.appliedRevision,
        report.oldestUnacknowledgedMs,
        report.inFlight,
        report.damagedRecords,
      ]),
      ['int8', 'int4', 'int8', 'int8', 'int4', 'int8'],
    )} as report (id, idle_ms, applied_revision, oldest_unacknowledged_ms, in_flight, damaged_records)
    where probe_sessions.id = report.id and closed_at is null`);
}

export type PolledSession = {
  readonly probeId: number;
  readonly serial: string;
  /** Cursors of older epochs are of no use to the agent. */
  readonly oldestEpoch: bigint;
};

const stateRow = z.object({
  id: z.number(),
  name: z.string(),
  region: z.string(),
  assignment_revision: z.bigint(),
  is_revoked: z.boolean(),
  open_session: z.bigint().nullable(),
});

/** What may have changed for connected probes: revocation, a newer session, assignments. One query for all. */
export async function probeStates(
  pool: CommonQueryMethods,
  sessions: readonly PolledSession[],
): Promise<readonly z.infer<typeof stateRow>[]> {
  return pool.any(sql.type(stateRow)`
    select probe.id, probe.name, probe.region, probe.assignment_revision,
      probe.revoked_at is not null or certificate.revoked_at is not null as is_revoked,
      (select id from probe_sessions where probe_id = probe.id and closed_at is null) as open_session
    from ${sql.unnest(
      sessions.map((session) => [session.probeId, session.serial]),
      ['int4', 'text'],
    )} as connected (probe_id, serial)
      join probes probe on probe.id = connected.probe_id
      join probe_certificates certificate on certificate.serial = connected.serial`);
}

const cursorRow = z.object({ probe_id: z.number(), epoch: z.bigint(), shard: z.number(), seq: z.bigint() });

/** The committed cursors of connected probes, by probe. One query for all. */
export async function committedCursors(
  pool: CommonQueryMethods,
  sessions: readonly PolledSession[],
): Promise<Map<number, DispatchPosition[]>> {
  const rows = await pool.any(sql.type(cursorRow)`
    select cursors.probe_id, cursors.epoch, cursors.shard, cursors.seq
    from ${sql.unnest(
      sessions.map((session) => [session.probeId, session.oldestEpoch]),
      ['int4', 'int8'],
    )} as connected (probe_id, oldest_epoch)
      join cursors on cursors.probe_id = connected.probe_id and cursors.epoch >= connected.oldest_epoch`);
  const byProbe = new Map<number, DispatchPosition[]>();
  for (const row of rows) {
    const positions = byProbe.get(row.probe_id) ?? [];
    positions.push({ epoch: Number(row.epoch), shard: row.shard, seq: Number(row.seq) });
    byProbe.set(row.probe_id, positions);
  }
  return byProbe;
}

const lostRow = z.object({ id: z.number(), name: z.string(), region: z.string() });
const watchRow = z.object({ looked_at: z.number(), is_quiet: z.boolean() });

export type LostWatch = {
  /** This process knows of a reason why heartbeats may be missing: it has only begun, stood still, or could not reach the database. */
  readonly isQuiet: boolean;
  /** No probe counts as lost for so long after all control planes stood still, ms. */
  readonly quietMs: number;
  /** Two looks of whichever control planes that lie further apart than this mean that all of them, or the database, stood still, ms. */
  readonly standstillMs: number;
};

/**
 * Closes sessions without a sign of life, wherever they were held, and gives one notice for each probe that is lost now. To be called
 * regularly, also while it is quiet: that this is done is what all replicas together know of the time in which heartbeats
 * could be written at all. One that has no session, and so met no error, would else take an outage of the database for the loss
 * of every probe of the others, and so would one whose query lay in a database that stood still. A probe that was registered and
 * never began a session is told of like any: whoever registered it expects it.
 * @returns the probes that were found lost
 */
export async function noticeLostProbes(
  pool: DatabasePool,
  { isQuiet, quietMs, standstillMs }: LostWatch,
): Promise<readonly { id: number; name: string }[]> {
  // A statement of its own, so that no process that stops inside of a transaction keeps the others from looking.
  const watch = await pool.one(sql.type(watchRow)`
    insert into lost_watch as watch (looked_at, quiet_until)
    values (clock_timestamp(), clock_timestamp() + ${quietMs} * interval '1 millisecond')
    on conflict (is_one) do update set
      quiet_until = case when clock_timestamp() - watch.looked_at > ${standstillMs} * interval '1 millisecond'
        then greatest(watch.quiet_until, clock_timestamp() + ${quietMs} * interval '1 millisecond')
        else watch.quiet_until end,
      looked_at = greatest(watch.looked_at, clock_timestamp())
    returning looked_at, quiet_until > clock_timestamp() as is_quiet`);
  if (isQuiet || watch.is_quiet) return [];
  // By the time of the look and not of what follows: everything up to there could be written.
  const lostBefore = sql.fragment`${sql.timestamp(new Date(watch.looked_at))} - ${lostAfterSeconds} * interval '1 second'`;
  return pool.transaction(async (tx) => {
    // The probes are locked in order, like everywhere, for the seats of many may be written at the same time.
    await tx.query(sql.unsafe`
      with silent as (
        select probe_id from probe_sessions where closed_at is null and last_heartbeat_at < ${lostBefore}
      ), locked as materialized (
        select id from probes where id in (select probe_id from silent) order by id for no key update
      ), closed as (
        update probe_sessions set closed_at = now(), close_reason = 'lost'
        where closed_at is null and last_heartbeat_at < ${lostBefore} and probe_id in (select id from locked)
        returning probe_id, last_heartbeat_at
      )
      update probes set last_seen_at = greatest(probes.last_seen_at, closed.last_heartbeat_at)
      from closed where probes.id = closed.probe_id`);
    const lost = await tx.any(sql.type(lostRow)`
      update probes set offline_since = now()
      where id in (
        select id from probes
        where revoked_at is null and offline_since is null and coalesce(last_seen_at, created_at) < ${lostBefore}
          and not exists (select from probe_sessions where probe_id = probes.id and closed_at is null)
        order by id for no key update)
      returning id, name, region`);
    for (const probe of lost) await noticeProbe(tx, 'probe.offline', probe.id, probe.name, probe.region);
    return lost;
  });
}

async function noticeProbe(
  tx: Transaction,
  kind: 'probe.offline' | 'probe.online',
  probeId: number,
  name: string,
  region: string,
): Promise<void> {
  await enqueue(tx, { key: `probe:${probeId}`, kind, payload: { probe_id: probeId, name, region } });
}
