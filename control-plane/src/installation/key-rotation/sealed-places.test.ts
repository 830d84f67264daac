import t from 'tap';
import { secretsContext } from '../../monitoring/assignments/index.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import { sealedPlaces, unsealedColumns } from './sealed-places.ts';

t.test('every column of bytes is known as sealed or not, so none is forgotten when the key is exchanged', async (t) => {
  const { database } = await testDatabase(t);
  const { rows } = await database.raw.query<{ name: string }>(`
    select c.relname || '.' || a.attname as name
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped and a.atttypid = 'bytea'::regtype
    order by 1`);
  const known = [
    'installation.key_check',
    ...sealedPlaces.filter((place) => place.field === undefined).map(({ table, column }) => `${table}.${column}`),
    ...unsealedColumns,
  ];
  t.same(
    rows.map((row) => row.name),
    known.toSorted(),
  );
});

t.test('the contexts of values of the first version are those that they were sealed for', async (t) => {
  const of = (table: string, key: string) => sealedPlaces.find((place) => place.table === table)?.firstContext?.(key);
  t.equal(of('monitors', '17'), secretsContext(17));
  t.equal(of('sealed_keys', 'nats'), 'key nats');
});
