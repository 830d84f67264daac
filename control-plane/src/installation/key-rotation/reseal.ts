import pg from 'pg';
import { sealedPrefix } from '../../platform/crypto/seal.ts';
import type { Keyring } from '../../platform/crypto/seal.ts';
import type { SealedPlace } from './sealed-places.ts';

const name = (text: string): string => pg.escapeIdentifier(text);

/** A sealed value as bytes, in SQL. */
function bytesOf({ column, field }: SealedPlace): string {
  return field === undefined ? name(column) : `decode(${name(column)} ->> ${pg.escapeLiteral(field)}, 'base64')`;
}

/** The rows of a place that stand under another key than $1, the first bytes of a value under that. */
function othersOf(place: SealedPlace): string {
  const isSealed =
    place.field === undefined
      ? `${name(place.column)} is not null`
      : `${name(place.column)} ? ${pg.escapeLiteral(place.field)}`;
  return `${isSealed} and substring(${bytesOf(place)} from 1 for 9) <> $1`;
}

/** How many values of a place stand under another key than this one. */
export async function countOthers(client: pg.ClientBase | pg.Pool, place: SealedPlace, keyId: string): Promise<number> {
  const { rows } = await client.query<{ n: string }>(
    `select count(*) as n from ${name(place.table)} where ${othersOf(place)}`,
    [sealedPrefix(keyId)],
  );
  return Number(rows[0]?.n ?? 0);
}

/**
 * Brings up to `limit` values of a place under the key that the ring seals with, in one transaction. Rows that others hold at the moment are
 * left for the next pass.
 * @param after where the pass stands: the last key of its previous batch
 * @returns how many were moved, and the last key; undefined when the pass is at its end
 * @throws SealError for a value that none of the ring's keys opens
 */
export async function resealBatch(
  client: pg.ClientBase,
  ring: Keyring,
  place: SealedPlace,
  after: string | undefined,
  limit: number,
): Promise<{ readonly moved: number; readonly last: string } | undefined> {
  await client.query('begin');
  try {
    const { rows } = await client.query<{ key: string; sealed: Buffer }>(
      `select ${name(place.key)}::text as key, ${bytesOf(place)} as sealed
       from ${name(place.table)}
       where ${othersOf(place)} ${after === undefined ? '' : `and ${name(place.key)} > $2::${place.keyType}`}
       order by ${name(place.key)} limit ${limit} for update skip locked`,
      [sealedPrefix(ring.sealsWith()), ...(after === undefined ? [] : [after])],
    );
    const moved = rows.map(({ key, sealed }) => ring.reseal(sealed, place.firstContext?.(key)));
    await client.query(updateOf(place), [rows.map((row) => row.key), moved]);
    await client.query('commit');
    const last = rows.at(-1)?.key;
    return last === undefined ? undefined : { moved: rows.length, last };
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** By value, not through the application: neither version nor time of change of a row moves, since what it says is the same. */
function updateOf({ table, key, keyType, column, field }: SealedPlace): string {
  const value =
    field === undefined
      ? 'given.sealed'
      : `jsonb_set(${name(column)}, array[${pg.escapeLiteral(field)}], to_jsonb(translate(encode(given.sealed, 'base64'), E'\\n', '')))`;
  return `update ${name(table)} as stored set ${name(column)} = ${value}
    from unnest($1::${keyType}[], $2::bytea[]) as given (key, sealed) where stored.${name(key)} = given.key`;
}
