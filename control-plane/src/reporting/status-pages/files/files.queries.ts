import type { StatusPageFileKind } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { Picture } from './picture.ts';

type Page = { readonly id: number; readonly workspace_id: number };

/** Gives a locked page a picture in place of the one that it has. */
export async function writeFile(
  tx: Transaction,
  page: Page,
  kind: StatusPageFileKind,
  { hash, type, width, height, bytes }: Picture,
): Promise<void> {
  await tx.query(sql.unsafe`
    insert into status_page_files (page_id, workspace_id, kind, hash, type, width, height, bytes)
    values (${page.id}, ${page.workspace_id}, ${kind}, ${hash}, ${type}, ${width}, ${height}, ${sql.binary(bytes)})
    on conflict (page_id, kind) do update set hash = excluded.hash, type = excluded.type, width = excluded.width,
      height = excluded.height, bytes = excluded.bytes`);
}

/** Takes a picture from a locked page. */
export async function removeFile(tx: Transaction, page: Page, kind: StatusPageFileKind): Promise<void> {
  await tx.query(sql.unsafe`
    delete from status_page_files where page_id = ${page.id} and workspace_id = ${page.workspace_id} and kind = ${kind}`);
}

/** The bytes of a picture of a page; null: it has it no more. */
export async function fileBytes(
  scope: Scope,
  connection: CommonQueryMethods,
  pageId: number,
  hash: string,
): Promise<Buffer | null> {
  return connection.maybeOneFirst(sql.type(z.object({ bytes: z.instanceof(Buffer) }))`
    select bytes from status_page_files
    where page_id = ${pageId} and hash = ${hash} and workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')}) limit 1`);
}
