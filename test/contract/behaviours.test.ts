import { readFileSync } from 'node:fs';
import t from 'tap';
import { endpoints, rules } from './behaviours.ts';
import type { Shown } from './behaviours.ts';
import { documented } from './document.ts';

const group =
  /^\/api\/v1\/(monitors|monitor-groups|api-checks|webhooks|events|analytics|dashboard|feedback|public\/status|scheduled-reports|status-pages|badges)(\/|$)/;

function isThere([file, title]: Shown): boolean {
  const source = readFileSync(new URL(`../../control-plane/src/${file}.test.ts`, import.meta.url), 'utf8');
  return source.includes(`'${title}'`);
}

t.test(
  'every endpoint of monitors, their groups and reports, and of what goes to other systems, has a test that shows what it does',
  async (t) => {
    const there = documented.filter(({ path }) => group.test(path)).map(({ name }) => name);
    t.same(new Set(Object.keys(endpoints)), new Set(there), 'as the OpenAPI document has them');
  },
);

t.test('the tests that are named are there', async (t) => {
  for (const [name, tests] of Object.entries({ ...endpoints, ...rules })) {
    t.ok(tests.length > 0, name);
    t.same(
      tests.filter((shown) => !isThere(shown)),
      [],
      name,
    );
  }
});
