import { monitorSorts, statusFilters } from '@parallax/api-contract';
import t from 'tap';
import { monitorsApi } from '../../testing.ts';
import type { MonitorsApi } from '../../testing.ts';

/*
 * The specification's table of the list's query parameters, row by row: what is taken at and inside each bound, what is refused outside of
 * it and by which name, and what a parameter is that is left out.
 */

type Row = {
  readonly name: string;
  /** Equal to leaving it out; undefined: leaving it out filters nothing. */
  readonly byDefault?: string;
  readonly taken: readonly string[];
  readonly refused: readonly string[];
};

const integers = ['', 'x', '1.5', '1e1', '0x1', ' 1', '1 ', '+1', '-1', '٣', 'NaN', '99999999999999999999'];

const table: readonly Row[] = [
  { name: 'page', byDefault: '1', taken: ['1', '2', '9999', '10000', '01'], refused: ['0', '10001', ...integers] },
  { name: 'page_size', byDefault: '20', taken: ['1', '2', '99', '100'], refused: ['0', '101', ...integers] },
  {
    name: 'status_filter',
    taken: [...statusFilters, 'UP', 'Paused'],
    refused: ['', 'up ', 'upp', 'active', 'up,down', 'toString', '__proto__'],
  },
  {
    name: 'is_active',
    taken: ['true', 'false', 'True', 'FALSE', '1', '0'],
    refused: ['', '2', 'yes', 'null', ' true'],
  },
  { name: 'workspace_id', taken: [], refused: ['0', '2147483648', ...integers] },
  {
    name: 'search',
    taken: ['', 'x', ' ', 'x'.repeat(199), 'x'.repeat(200), '%', "'", '\\', 'é'.repeat(200), '\u0001', '\ud83d\ude00'],
    refused: ['x'.repeat(201), 'é'.repeat(201), '\u0000', 'a\u0000b'],
  },
  {
    name: 'sort',
    byDefault: 'status',
    taken: [...monitorSorts, 'Name'],
    refused: ['', 'id', 'name,id', 'name desc'],
  },
  { name: 'order', byDefault: 'asc', taken: ['asc', 'desc', 'ASC', 'Desc'], refused: ['', 'ascending', 'asc;'] },
  // Beside the specification's.
  { name: 'protocol', taken: ['https', 'dnsbl', 'tcp', 'HTTPS'], refused: ['', 'gopher', 'toString'] },
  { name: 'tag', taken: ['', 'x', 'x'.repeat(50)], refused: ['x'.repeat(51), 'a\u0000'] },
];

function ask(api: MonitorsApi, query: string) {
  return api.call('GET', `/api/v1/monitors${query}`, { token: api.token });
}

for (const { name, byDefault, taken, refused } of table) {
  void t.test(name, async (t) => {
    const api = await monitorsApi(t);
    for (const made of ['a', 'b', 'c']) await api.monitor({ name: made, is_active: made !== 'c' });
    const given = (value: string) => ask(api, `?${name}=${encodeURIComponent(value)}`);
    const shown = (value: string) => (value.length > 40 ? `${value.length} characters` : JSON.stringify(value));
    for (const value of taken) t.equal((await given(value)).status, 200, `${shown(value)} is taken`);
    for (const value of refused) {
      const answer = await given(value);
      t.match(
        answer,
        { status: 422, body: { code: 'invalid_input', errors: [{ in: 'query', path: `/${name}` }] } },
        `${shown(value)} is refused`,
      );
    }
    const left = await ask(api, '');
    t.match(left.body, { total: 3, page: 1, page_size: 20 });
    if (byDefault !== undefined) t.same((await given(byDefault)).body, left.body, `${byDefault} when left out`);
    if (name === 'tag') return;
    const first = taken[0] ?? '1';
    const twice = await ask(api, `?${name}=${encodeURIComponent(first)}&${name}=${encodeURIComponent(first)}`);
    t.match(twice, { status: 422, body: { errors: [{ in: 'query', path: `/${name}` }] } }, 'twice is no value');
  });
}

void t.test('what each parameter does, one by one', async (t) => {
  const api = await monitorsApi(t);
  for (const name of ['a', 'b', 'c']) {
    await api.monitor({ name, is_active: name !== 'c', tags: name === 'a' ? ['x', 'y'] : ['x'] });
  }
  const names = async (query: string) =>
    ((await ask(api, `?sort=name&${query}`)).body['monitors'] as { name: string }[]).map((monitor) => monitor.name);
  t.same(await names('page=2&page_size=2'), ['c']);
  t.same(await names('page=3&page_size=1'), ['c']);
  t.same(await names('page=10000'), []);
  t.same(await names('status_filter=paused'), ['c']);
  t.same(await names('is_active=true'), ['a', 'b']);
  t.same(await names('is_active=false'), ['c']);
  t.same(await names(`workspace_id=${api.workspaceId}`), ['a', 'b', 'c']);
  t.same(await names('search=B'), ['b']);
  t.same(await names('search=EXAMPLE.com'), ['a', 'b', 'c']);
  t.same(await names('order=desc'), ['c', 'b', 'a']);
  t.same(await names('protocol=https'), ['a', 'b', 'c']);
  t.same(await names('protocol=dnsbl'), []);
  t.same(await names('tag=x&tag=y'), ['a']);
  const many = Array.from({ length: 21 }, () => 'tag=x').join('&');
  t.match(await ask(api, `?${many}`), { status: 422, body: { errors: [{ in: 'query', path: '/tag' }] } });
  t.equal((await ask(api, `?${many.slice(6)}`)).status, 200, 'twenty tags');
  t.equal((await ask(api, '?workspace_id=2147483647')).status, 404, 'a workspace that is not there');
  t.equal((await ask(api, '?unknown=1')).status, 200, 'what is not known is ignored');
});
