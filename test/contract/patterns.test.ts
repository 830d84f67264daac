import t from 'tap';
import type { Test } from 'tap';
import type { TestAnswer } from '../../control-plane/src/identity/testing.ts';
import { sql } from '../../control-plane/src/platform/database/pools.ts';
import { openWorld } from './world.ts';

/* Every body that takes patterns, full of the worst ones, sent by who may not edit, and by who may. */

const bodyBytes = 256 * 1_024;
/** What it may cost beside a body of that size whose patterns are harmless. */
const mostMs = 50;

const world = await openWorld(t);
const viewer = await world.account('patterns@example.com');
await world.database.worker.query(sql.unsafe`
  insert into workspace_members (workspace_id, user_id, role) values (${world.workspaceId}, ${viewer.id}, 'viewer')`);

const worst = '(x?){1000}'.repeat(25);
const harmless = 'x'.repeat(worst.length);
/** As many as a body has room for. */
const many = <Item>(item: (pattern: string) => Item, pattern: string): readonly Item[] => {
  const each = Buffer.byteLength(JSON.stringify(item(pattern))) + 1;
  return Array.from({ length: Math.floor((bodyBytes - 1_000) / each) }, () => item(pattern));
};

const step = (pattern: string) => ({ extract: [{ name: 'v', from: 'regex', path: pattern }] });
const assertion = (pattern: string) => ({ source: 'body', comparison: 'matches', value: pattern });
const monitor = (settings: object) => ({ name: 'patterns', url: world.target, protocol: 'http', settings });
const places: Readonly<Record<string, (pattern: string) => object>> = {
  'POST /api/v1/monitors with assertions': (pattern) => monitor({ assertions: { all: many(assertion, pattern) } }),
  'POST /api/v1/monitors with a keyword': (pattern) => monitor({ keyword: { pattern: pattern.repeat(1_000) } }),
  'POST /api/v1/monitors with steps': (pattern) => ({
    ...monitor({ steps: many(step, pattern) }),
    protocol: 'api',
  }),
  'POST /api/v1/api-checks with steps': (pattern) => ({
    name: 'patterns',
    url: world.target,
    steps: many(step, pattern),
  }),
  'POST /api/v1/webhook-checks with rules': (pattern) => ({
    name: 'patterns',
    rules: many((value) => ({ path: null, op: 'matches', value, status: 'down' }), pattern),
  }),
};

async function send(token: string, path: string, body: object): Promise<{ answer: TestAnswer; ms: number }> {
  const before = process.cpuUsage();
  const answer = await world.call('POST', path, { token, body: { workspace_id: world.workspaceId, ...body } });
  const { user, system } = process.cpuUsage(before);
  return { answer, ms: (user + system) / 1_000 };
}

/** The least of some: what else the machine does is nothing that the patterns cost. */
async function cost(token: string, path: string, body: object): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) times.push((await send(token, path, body)).ms);
  return Math.min(...times);
}

async function isCheap(t: Test, token: string, path: string, body: (pattern: string) => object): Promise<void> {
  const [dear, cheap] = [await cost(token, path, body(worst)), await cost(token, path, body(harmless))];
  t.ok(dear - cheap <= mostMs, `${Math.round(dear)} ms beside ${Math.round(cheap)} ms`);
}

for (const [name, body] of Object.entries(places)) {
  void t.test(name, async (t) => {
    const path = name.split(' ')[1] ?? '';
    const refused = await send(viewer.accessToken, path, body(worst));
    t.ok([403, 422].includes(refused.answer.status), `a viewer: ${refused.answer.text.slice(0, 300)}`);
    await isCheap(t, viewer.accessToken, path, body);
    const judged = await send(world.token, path, body(worst));
    t.equal(judged.answer.status, 422, judged.answer.text.slice(0, 300));
    await isCheap(t, world.token, path, body);
  });
}
