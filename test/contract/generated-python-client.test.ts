import { copyFileSync, globSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { runToEnd, startCommand } from '../harness/processes.ts';
import { documented } from './document.ts';
import { isStream, partsOf } from './generated-call.ts';
import { tableOf } from './generated-table.ts';
import type { TableCall } from './generated-table.ts';
import { generatePythonClient, pythonAndJava } from './python-client/generator.ts';
import { rows } from './table.ts';
import { openWorld } from './world.ts';

/*
 * A client in Python that is generated from the document that the product serves, compiled, and run against the product. It holds every answer against
 * the document while it makes objects of it.
 */

/** A call in the words of `table.py`. */
function described({ one, prepared }: TableCall) {
  const { body, token } = prepared;
  const taken = Object.keys(one.operation.requestBody?.content ?? {});
  // What takes anything reads a form by its content; this client sends one only of parameters that the document names.
  const mediaType = taken.includes('*/*') ? 'text/plain' : (prepared.headers?.['content-type'] ?? 'application/json');
  return {
    name: one.name,
    mediaType,
    operation: one.operation.operationId,
    ...partsOf(one, prepared),
    ...(body === undefined ? {} : { body }),
    ...(token === undefined ? {} : { token }),
  };
}

void t.test('a generated client in Python compiles, and calls the product', { timeout: 580_000 }, async (t) => {
  const programs = await pythonAndJava(t);
  if (programs === undefined) return;
  // Passkeys belong to a name.
  const world = await openWorld(t, { publicUrl: 'http://localhost' });
  // This client reads an answer to its end, and a stream has none.
  const table = (await tableOf(world)).filter(({ one }) => !isStream(one));
  const folder = t.testdir({ 'calls.json': JSON.stringify(table.map(described)) });
  const document = await (await fetch(`${world.url}/openapi.json`)).text();
  await generatePythonClient(programs.java, document, folder);
  const run = async (args: readonly string[], what: string) =>
    runToEnd(startCommand(programs.python, args, { PYTHONPATH: folder }), what, 240_000);
  await run(['-m', 'compileall', '-q', folder], 'the compiler');
  const files = globSync('parallax_client/{api,models}/*.py', { cwd: folder });
  t.ok(files.length > 350, `${files.length} modules`);
  for (const name of ['story.py', 'table.py'])
    copyFileSync(path.join(import.meta.dirname, 'python-client', name), path.join(folder, name));

  await t.test('with all that a careful client sends', async (t) => {
    const told = await run([path.join(folder, 'story.py'), world.url, world.target], 'the client');
    t.same(JSON.parse(told), {
      registered: 'python@example.com',
      stranger: [401, 'invalid_credentials', null],
      workspaces: ['from Python'],
      made: [201, 'Monitor', 'any', 'datetime'],
      location: true,
      again: true,
      changed: ['renamed', 2],
      stale: [412, 'version_mismatch', null],
      refused: [422, 'invalid_input', '/interval_seconds'],
      refused_by_client: true,
      absent: [404, 'not_found', null],
      listed: [1, ['renamed']],
      read: true,
      removed: 204,
    });
  });

  await t.test('every operation of the document but the stream, and so every row of the specification', async (t) => {
    const given = [world.url, world.token, path.join(folder, 'calls.json')];
    const answered = await run([path.join(folder, 'table.py'), ...given], 'the table');
    t.equal(table.length, documented.length - 1);
    t.equal(table.filter(({ isListed }) => isListed).length, rows.length, 'every row is among them');
    t.same(JSON.parse(answered), Object.fromEntries(table.map(({ one, status }) => [one.name, status])));
  });
});
