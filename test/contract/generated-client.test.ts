import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isWhole } from '@parallax/testkit/extent';
import t from 'tap';
import { root, runToEnd, startCommand } from '../harness/processes.ts';
import { documented, undocumented } from './document.ts';
import { callText } from './generated-call.ts';
import { tableOf } from './generated-table.ts';
import type { TableCall } from './generated-table.ts';
import { rows } from './table.ts';
import { openWorld } from './world.ts';

/*
 * A client in TypeScript that is generated from the document that the product serves, compiled with strict types, and run against the product.
 */

/** What somebody writes who has nothing but the document. */
const client = `
import createClient from 'openapi-fetch';
import type { operations, paths } from './schema.ts';

const [baseUrl = '', token = '', key = '', workspace = '', target = ''] = process.argv.slice(2);
const bearer = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });
const byKey = createClient<paths>({ baseUrl, headers: { 'x-api-key': key } });

function present<Data>(answer: { data?: Data; error?: unknown }): Data {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

const body = { workspace_id: Number(workspace), name: 'generated', url: target };
const header = { 'Idempotency-Key': 'generated-client' };
const made = await bearer.POST('/api/v1/monitors', { body, params: { header } });
const monitor = present(made);
const again = present(await bearer.POST('/api/v1/monitors', { body, params: { header } }));

const params = { path: { monitor_id: monitor.id } };
const read = present(await byKey.GET('/api/v1/monitors/{monitor_id}', { params }));
const ifMatch = made.response.headers.get('etag') ?? '';
const changed = present(
  await bearer.PATCH('/api/v1/monitors/{monitor_id}', {
    params: { ...params, header: { 'If-Match': ifMatch } },
    // An answer may name a protocol that a later version knows.
    body: { ...read, protocol: 'http', name: 'renamed' },
  }),
);
const stale = await bearer.PATCH('/api/v1/monitors/{monitor_id}', {
  params: { ...params, header: { 'If-Match': ifMatch } },
  body: { name: 'too late' },
});
const refused = await bearer.POST('/api/v1/monitors', { body: { ...body, interval_seconds: 0 } });
const code: 'too_small' | undefined = refused.error?.errors?.flatMap((each) => (each.code === 'too_small' ? [each.code] : []))[0];
const query: NonNullable<operations['get_monitors']['parameters']['query']> = { search: 'renamed', page_size: 5 };
const list = present(await byKey.GET('/api/v1/monitors', { params: { query } }));
const removed = await bearer.DELETE('/api/v1/monitors/{monitor_id}', { params });

console.log(JSON.stringify({
  location: made.response.headers.get('location'),
  isSame: again.id === monitor.id,
  changed: [changed.name, changed.version],
  stale: [stale.response.status, stale.error?.code],
  refused: [refused.response.status, code, refused.error?.errors?.[0]?.path],
  listed: list.monitors.map(({ name }) => name),
  removed: removed.response.status,
  id: monitor.id,
}));
`;

/** An answer as it came, of the operation by that name. */
type Answered = Readonly<
  Record<string, { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string }>
>;

/** What calls every operation, one after the other, and prints what each was answered. */
function tableClient(calls: readonly TableCall[]): string {
  return `
import createClient from 'openapi-fetch';
import type { paths } from './schema.ts';

const [baseUrl = '', token = ''] = process.argv.slice(2);
const answered: Record<string, unknown> = {};
let name = '';
const client = (own: string) => {
  const made = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${own}\` }, redirect: 'manual' });
  made.use({
    onResponse: async ({ response }) => {
      const { status, headers } = response;
      const text = isStream(response) ? '' : await response.clone().text();
      answered[name] = { status, headers: Object.fromEntries(headers), text };
    },
  });
  return made;
};
const isStream = ({ headers }: Response) => headers.get('content-type')?.startsWith('text/event-stream') === true;
/** A stream does not end by itself. */
const end = async ({ response }: { response: Response }) => {
  if (isStream(response)) { await response.body?.cancel(); }
};
${calls.map(({ one, prepared }) => `name = ${JSON.stringify(one.name)};\nawait end(await ${callText(one, prepared)});`).join('\n')}
console.log(JSON.stringify(answered));
`;
}

/** What of the answers is not as the document and the specification have it. */
function faultsOf(calls: readonly TableCall[], answered: Answered): readonly string[] {
  return calls.flatMap(({ one: { name, path: documentedPath }, status }) => {
    const given = answered[name];
    if (given === undefined) return [`${name} was not called`];
    const { headers, text } = given;
    if (given.status !== status) return [`${name}: ${given.status} in place of ${status}: ${text.slice(0, 300)}`];
    const isJson = /[/+]json\b/.test(headers['content-type'] ?? '');
    const body = (isJson ? JSON.parse(text) : {}) as Record<string, unknown>;
    const answer = { status, headers: new Headers(headers), body, text };
    const fault = undocumented(name.split(' ', 1)[0] ?? '', documentedPath, answer);
    return fault === undefined ? [] : [fault];
  });
}

const options = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2024', '--module', 'nodenext'];

void t.test('a generated client compiles, and calls the product', { timeout: 580_000 }, async (t) => {
  // Passkeys belong to a name.
  const world = await openWorld(t, { publicUrl: 'http://localhost' });
  const table = await tableOf(world);
  const folder = t.testdir({
    'package.json': '{"type":"module"}',
    'client.ts': client,
    'table.ts': tableClient(table),
  });
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  const served = path.join(folder, 'openapi.json');
  writeFileSync(served, await (await fetch(`${world.url}/openapi.json`)).text());
  const run = async (args: readonly string[], what: string) =>
    runToEnd(startCommand(process.execPath, args, {}), what, 100_000);
  const generator = 'test/generated-client/node_modules/openapi-typescript/bin/cli.js';
  // A field with a default may be left out of a request.
  const generated = [served, '--default-non-nullable=false', '--output', path.join(folder, 'schema.ts')];
  await run([path.join(root, generator), ...generated], 'the generator');
  // The compiler of the project, which takes a fifth of the time; in the long run the one before it, which many still have.
  const compiler = path.join(root, isWhole ? 'test/generated-client' : '.', 'node_modules/typescript/bin/tsc');
  const programs = ['client.ts', 'table.ts'].map((name) => path.join(folder, name));
  // Version 7 has to be told that no tsconfig.json is meant; version 5 does not know the option.
  const own = isWhole ? [] : ['--ignoreConfig'];
  const types = ['--types', 'node', '--allowImportingTsExtensions', ...own, ...programs];
  await run([compiler, ...options, ...types], 'the compiler');

  await t.test('with all that a careful client sends', async (t) => {
    const given = [world.url, world.token, world.apiKey, String(world.workspaceId), world.target];
    const told = JSON.parse(await run([path.join(folder, 'client.ts'), ...given], 'the client')) as {
      readonly id: number;
    };
    t.same(told, {
      location: `/api/v1/monitors/${told.id}`,
      isSame: true,
      changed: ['renamed', 2],
      stale: [412, 'version_mismatch'],
      refused: [422, 'too_small', '/interval_seconds'],
      listed: ['renamed'],
      removed: 204,
      id: told.id,
    });
  });

  await t.test('every operation of the document, and so every row of the specification', async (t) => {
    t.same(
      table.map(({ one }) => one.name).toSorted(),
      documented.map(({ name }) => name).toSorted(),
      'each is called once',
    );
    t.equal(table.filter(({ isListed }) => isListed).length, rows.length, 'every row is among them');
    const answered = await run([path.join(folder, 'table.ts'), world.url, world.token], 'the table');
    t.same(faultsOf(table, JSON.parse(answered) as Answered), []);
  });
});
