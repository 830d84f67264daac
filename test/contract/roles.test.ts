import t from 'tap';
import { rules } from './access/rules.ts';
import { neededScope } from '@parallax/api-contract';
import { documented } from './document.ts';
import { nameOf, rows } from './table.ts';

void t.test(
  'the document names the role that the access matrix shows, and no operation is called like another',
  async (t) => {
    const ids = documented.map(({ operation }) => operation.operationId);
    t.equal(new Set(ids).size, ids.length);
    for (const { name, operation } of documented) {
      const rule = rules[name.replaceAll(/\{([a-z_]+)\}/g, ':$1')];
      if (rule === undefined) {
        t.fail(`${name} has no rule`);
        continue;
      }
      const needsNone =
        operation.security.length === 0 || operation.security.some((way) => !('bearer' in way || 'api_key' in way));
      t.equal(operation['x-role'], needsNone ? 'anybody' : rule.least, name);
    }
  },
);

void t.test('API keys are taken where the specification takes them, and nowhere else', async (t) => {
  const anonymous = (name: string): string => name.replaceAll(/\{[a-z_]+\}/g, '*');
  const listed = rows.filter(({ auth }) => auth === 'api-key-or-bearer').map((row) => anonymous(nameOf(row)));
  const taken = documented
    .filter(({ operation }) => operation.security.some((way) => 'api_key' in way))
    .map(({ name }) => anonymous(name));
  t.same(taken.toSorted(), listed.toSorted());
});

void t.test('every route that takes a token is covered by a scope', async (t) => {
  for (const { name, path, operation } of documented) {
    const method = name.split(' ', 1)[0] as 'GET';
    if (operation.security.some((way) => 'bearer' in way)) t.ok(neededScope({ method, path }), name);
  }
});
