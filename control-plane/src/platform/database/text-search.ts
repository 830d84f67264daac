import { sql } from './pools.ts';

type Fragment = ReturnType<typeof sql.fragment>;

/** A text without its case. ICU's root collation folds case beyond ASCII whatever locale the database was made with. */
export const folded = (text: Fragment): Fragment => sql.fragment`lower(${text} collate "und-x-icu")`;

/** Names in the order of an alphabet, whatever their case. */
export const byName = (text: Fragment): Fragment => sql.fragment`${folded(text)} collate "und-x-icu"`;

/**
 * Whether one of some texts has another one in it, whatever the case. Not by LIKE: `%` and `_` stand for themselves.
 * @param search as somebody gave it; what is empty or absent is in all of them
 */
export function contains(search: string | undefined, ...texts: readonly [Fragment, ...Fragment[]]): Fragment {
  if (search === undefined || search === '') return sql.fragment`true`;
  const wanted = folded(sql.fragment`${search.normalize('NFC')}`);
  const found = texts.map((text) => sql.fragment`strpos(${folded(text)}, ${wanted}) > 0`);
  return sql.fragment`(${sql.join(found, sql.fragment` or `)})`;
}
