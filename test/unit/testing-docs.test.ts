import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { properties } from '../../control-plane/src/monitoring/consensus/testing/properties.ts';
import { mutants } from '../simulation/mutants.ts';

const document = readFileSync(path.resolve(import.meta.dirname, '../../docs/testing.md'), 'utf8');

t.test('docs/testing.md has every property of consensus in its table, by name, and no other', async (t) => {
  const [, table = ''] = document.split('| the design says | the property |');
  const named = [...(table.split('\n\n')[0] ?? '').matchAll(/^\|[^|]*\| ([^|]+) \|$/gm)].map(([, name]) => name);
  t.same(new Set(named), new Set(properties.map(({ name }) => name)));
  t.equal(named.length, properties.length);
});

t.test('every mutant of the simulation changes what is there', async (t) => {
  for (const { name, file, from } of mutants)
    t.ok(readFileSync(path.resolve(import.meta.dirname, '../..', file), 'utf8').includes(from), name);
});
