import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { root, runToEnd, startCommand } from '../harness/processes.ts';
import { fencedBlocks } from '../harness/readme.ts';
import { openWorld } from './world.ts';

/* What docs/api.md tells people to type, in one shell from the first line to the last; each answer has what is said below its example. */

const blocks = fencedBlocks(readFileSync(path.join(root, 'docs/api.md'), 'utf8'));
const scripts = blocks.filter(({ language }) => language === 'sh').map(({ content }) => content);
const answers = blocks
  .filter(({ language }) => language === 'json')
  .map(({ content }) => JSON.parse(content) as object);
const world = await openWorld(t);

await t.test('every example of docs/api.md answers what stands below it', async (t) => {
  t.same(
    blocks.map(({ language }) => language),
    scripts.flatMap(() => ['sh', 'json']),
    'each example has its answer',
  );
  const mark = 'end of an example';
  const script = scripts.map((each) => `${each}\necho; echo '${mark}'\n`).join('');
  const given = { URL: world.url, TOKEN: world.token, KEY: world.apiKey, WORKSPACE: String(world.workspaceId) };
  // There is no probe here: the control plane checks, and reaches what stands on this machine.
  const local = script.replaceAll('https://example.org/', world.target);
  const output = await runToEnd(startCommand('bash', ['-euo', 'pipefail', '-c', local], given), 'docs/api.md');
  const found = output.split(`${mark}\n`).slice(0, -1);
  t.equal(found.length, answers.length);
  for (const [index, answer] of answers.entries())
    t.match(JSON.parse(found[index] ?? ''), answer, scripts[index]?.split('\n')[0] ?? '');
});
