import { ledgerKinds } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import type { RowsOfMonitor } from '../../../monitoring/monitors/index.ts';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { chainStart, followChain, nextLink } from './chain.ts';
import type { ChainHead, ChainLink } from './chain.ts';

export type LedgerKind = (typeof ledgerKinds)[number];

/** An entry that is to be appended; its text is made for the place that it gets. */
export type NewEntry = {
  readonly monitorId: number;
  readonly chain: number;
  readonly kind: LedgerKind;
  /** Of a day or its revision. */
  readonly day: string | null;
  readonly text: (seq: number) => string;
};

/** Hook of a reset of the statistics: what follows is a chain of its own. The old one stays as it is. */
export async function startNewChain(transaction: Transaction, monitorId: number): Promise<void> {
  await transaction.query(sql.unsafe`update monitors set sla_chain = sla_chain + 1 where id = ${monitorId}`);
}

const headRow = z.object({ monitor_id: z.number(), chain: z.number(), seq: z.number(), digest: z.instanceof(Buffer) });

/** Where chains of monitors end, by monitor; without an entry for one that has none. */
async function headsOf(
  connection: CommonQueryMethods,
  places: readonly { readonly monitorId: number; readonly chain: number }[],
): Promise<ReadonlyMap<number, ChainHead>> {
  const rows = await connection.any(sql.type(headRow)`
    select v.monitor_id, v.chain, l.seq, l.digest
    from ${sql.unnest(
      places.map(({ monitorId, chain }) => [monitorId, chain]),
      ['int4', 'int4'],
    )} as v (monitor_id, chain)
    cross join lateral (
      select l.seq, l.digest from sla_ledger l
      where l.monitor_id = v.monitor_id and l.chain = v.chain order by l.seq desc limit 1) l`);
  return new Map(rows.map((row) => [row.monitor_id, { seq: row.seq, digest: row.digest }]));
}

/** Where a chain of a monitor ends. */
export async function headOf(connection: CommonQueryMethods, monitorId: number, chain: number): Promise<ChainHead> {
  return (await headsOf(connection, [{ monitorId, chain }])).get(monitorId) ?? chainStart;
}

/** Another one appended to the same chain at the same time; nothing of this transaction may stay. */
export class LedgerRaceError extends Error {
  override readonly name = 'LedgerRaceError';
}

/**
 * Appends entries, at most one for each monitor. Writers lock the monitor's row, so they come one after another; should one not, the
 * key of the table lets only one in.
 * @throws LedgerRaceError
 */
export async function appendEntries(transaction: Transaction, entries: readonly NewEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const heads = await headsOf(transaction, entries);
  const rows = entries.map((entry) => {
    const head = heads.get(entry.monitorId) ?? chainStart;
    const link = nextLink(head, entry.text(head.seq + 1));
    const { monitorId, chain, kind, day } = entry;
    return [monitorId, chain, link.seq, kind, day, link.entry, link.digest.toString('hex')];
  });
  const { rowCount } = await transaction.query(sql.unsafe`
    insert into sla_ledger (monitor_id, chain, seq, kind, day, entry, digest)
    select v.monitor_id, v.chain, v.seq, v.kind, v.day, v.entry, decode(v.digest, 'hex')
    from ${sql.unnest(rows, ['int4', 'int4', 'int4', 'text', 'date', 'text', 'text'])}
      as v (monitor_id, chain, seq, kind, day, entry, digest)
    on conflict do nothing`);
  if (rowCount !== rows.length) throw new LedgerRaceError('another transaction appended to the ledger; try again');
}

const entryRow = z.object({
  seq: z.number(),
  kind: z.enum(ledgerKinds),
  day: z.string().nullable(),
  entry: z.string(),
  digest: z.instanceof(Buffer),
  appended_at: z.number(),
});
export type LedgerEntry = z.infer<typeof entryRow>;

const columns = sql.fragment`l.seq, l.kind, l.day::text as day, l.entry, l.digest, l.appended_at`;

/** A page of a chain, latest first, and how many entries it has. The caller has seen that the monitor is the tenant's. */
export async function ledgerPage(
  connection: CommonQueryMethods,
  monitorId: number,
  chain: number,
  { page, pageSize }: { readonly page: number; readonly pageSize: number },
): Promise<{ readonly entries: readonly LedgerEntry[]; readonly head: ChainHead }> {
  const head = await headOf(connection, monitorId, chain);
  // Numbers have no gaps, so a page is found by its number.
  const last = head.seq - (page - 1) * pageSize;
  const entries = await connection.any(sql.type(entryRow)`
    select ${columns} from sla_ledger l
    where l.monitor_id = ${monitorId} and l.chain = ${chain} and l.seq <= ${last} and l.seq > ${last - pageSize}
    order by l.seq desc`);
  return { entries, head };
}

/** The digest of one entry, or null when the ledger does not have it. */
export async function digestAt(
  connection: CommonQueryMethods,
  monitorId: number,
  chain: number,
  seq: number,
): Promise<Buffer | null> {
  return connection.maybeOneFirst(sql.type(z.object({ digest: z.instanceof(Buffer) }))`
    select l.digest from sla_ledger l where l.monitor_id = ${monitorId} and l.chain = ${chain} and l.seq = ${seq}`);
}

/** How many entries of a kind stand after another. */
export async function newerEntries(
  connection: CommonQueryMethods,
  monitorId: number,
  chain: number,
  seq: number,
): Promise<Readonly<Record<LedgerKind, number>>> {
  const rows = await connection.any(sql.type(z.object({ kind: z.enum(ledgerKinds), entries: z.number() }))`
    select l.kind, count(*)::integer as entries from sla_ledger l
    where l.monitor_id = ${monitorId} and l.chain = ${chain} and l.seq > ${seq} group by l.kind`);
  const count = (kind: LedgerKind) => rows.find((row) => row.kind === kind)?.entries ?? 0;
  return { day: count('day'), revision: count('revision'), correction: count('correction') };
}

/** Entries that are followed at once. */
const linksAtOnce = 1_000;

/** Number of the first entry of a chain that does not follow the one before it, up to a given one; null when all do. */
export async function brokenAt(
  connection: CommonQueryMethods,
  monitorId: number,
  chain: number,
  lastSeq: number,
): Promise<number | null> {
  let head = chainStart;
  while (head.seq < lastSeq) {
    const links: readonly ChainLink[] = await connection.any(sql.type(entryRow)`
      select ${columns} from sla_ledger l
      where l.monitor_id = ${monitorId} and l.chain = ${chain} and l.seq > ${head.seq} and l.seq <= ${lastSeq}
      order by l.seq limit ${linksAtOnce}`);
    const followed = followChain(head, links);
    if (followed.brokenAt !== null) return followed.brokenAt;
    if (links.length === 0) return head.seq + 1;
    head = followed.head;
  }
  return null;
}

const rowsAtOnce = 5_000;

/** Rows of a deleted monitor: its ledger, then its corrections. A reset removes none, because it begins a new chain. */
export const removeSlaRows: RowsOfMonitor = async (worker, monitorId, beforeMs) => {
  if (beforeMs !== null) return { wasAny: false, wasHeld: false, removed: {} };
  const ledger = await worker.query(sql.unsafe`
    delete from sla_ledger where ctid = any(array(
      select l.ctid from sla_ledger l where l.monitor_id = ${monitorId} limit ${rowsAtOnce}))`);
  const corrections = await worker.query(sql.unsafe`
    delete from sla_corrections where ctid = any(array(
      select c.ctid from sla_corrections c where c.monitor_id = ${monitorId} limit ${rowsAtOnce}))`);
  return { wasAny: ledger.rowCount + corrections.rowCount > 0, wasHeld: false, removed: {} };
};
