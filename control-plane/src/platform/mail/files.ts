import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import type { Sealer } from '../crypto/seal.ts';
import { sql } from '../database/pools.ts';
import type { Transaction } from '../database/pools.ts';

/** A file that mails carry. */
export type MailFile = { readonly name: string; readonly contentType: string; readonly content: Buffer };

const sealedFor = 'file of a mail';

/** Keeps a file, sealed, for the mails that are handed over in the same transaction. @returns its identifier */
export async function keepMailFile(transaction: Transaction, sealer: Sealer, file: MailFile): Promise<string> {
  return transaction.oneFirst(sql.type(z.object({ id: z.string() }))`
    insert into mail_files (name, content_type, sealed)
    values (${file.name}, ${file.contentType}, ${sql.binary(sealer.seal(file.content, sealedFor))}) returning id`);
}

const fileRow = z.object({ name: z.string(), content_type: z.string(), sealed: z.instanceof(Buffer) });

/** The files of a mail in their order. Those that a restored backup has left out are missing. */
export async function openMailFiles(
  connection: CommonQueryMethods,
  sealer: Sealer,
  ids: readonly string[],
): Promise<readonly MailFile[]> {
  if (ids.length === 0) return [];
  const rows = await connection.any(sql.type(fileRow)`
    select f.name, f.content_type, f.sealed from unnest(${sql.array([...ids], 'uuid')}) with ordinality as g (id, place)
    join mail_files f on f.id = g.id order by g.place`);
  return rows.map((row) => ({
    name: row.name,
    contentType: row.content_type,
    content: sealer.open(row.sealed, sealedFor),
  }));
}

/** Removes files that no mail waits with. Younger than an hour they may belong to a transaction that is under way. */
export async function sweepMailFiles(worker: DatabasePool): Promise<void> {
  await worker.query(sql.unsafe`
    with waiting as (
      select unnest(m.file_ids) as id from mails m where m.given_up_at is null
      union all
      select jsonb_array_elements_text(o.payload -> 'file_ids')::uuid from outbox o
      where o.done_at is null and o.kind = 'mail.send' and o.payload ? 'file_ids')
    delete from mail_files f where f.created_at < now() - interval '1 hour' and not exists (select from waiting w where w.id = f.id)`);
}
