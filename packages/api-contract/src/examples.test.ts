import t from 'tap';
import { z } from 'zod';
import * as contracts from './index.ts';

void t.test('every example is what its schema describes', async (t) => {
  const schemas = Object.entries(contracts).filter(([, value]) => value instanceof z.ZodType);
  let examples = 0;
  for (const [name, schema] of schemas as unknown as [string, z.ZodType][]) {
    for (const example of (schema.meta()?.['examples'] ?? []) as unknown[]) {
      examples += 1;
      t.same(schema.parse(example), example, name);
    }
  }
  t.ok(examples >= 6, `${examples} examples`);
});
