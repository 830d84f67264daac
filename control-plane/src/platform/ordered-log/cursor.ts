/**
 * A place in the order of events: everything of transactions before `xid`, and of that one everything up to `id`, is behind it. `atMs` is
 * the time of the database when it was there.
 */
export type Cursor = { readonly atMs: number; readonly xid: bigint; readonly id: bigint };

/** As clients keep it and send it back as `Last-Event-ID`. */
export function textOfCursor({ atMs, xid, id }: Cursor): string {
  return `${Math.floor(atMs)}-${xid}-${id}`;
}

const cursorForm = /^([0-9]{1,15})-([0-9]{1,19})-([0-9]{1,19})$/;

/** Undefined for what is none of ours. */
export function cursorOfText(text: string): Cursor | undefined {
  const [, at, xid, id] = cursorForm.exec(text) ?? [];
  if (at === undefined || xid === undefined || id === undefined) return undefined;
  const cursor = { atMs: Number(at), xid: BigInt(xid), id: BigInt(id) };
  return cursor.xid <= largest && cursor.id <= largest ? cursor : undefined;
}

/** Of PostgreSQL's bigint. */
const largest = 9_223_372_036_854_775_807n;

export function isAfter(one: Cursor, other: Cursor): boolean {
  return one.xid === other.xid ? one.id > other.id : one.xid > other.xid;
}
