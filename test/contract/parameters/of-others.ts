import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
// The same certificates as in the tests of the checks.
import { issue } from '../../../packages/checks/src/testing/certificates.ts';
import type { World } from '../world.ts';
import { id, yesOrNo } from './bounds.ts';
import { hourMs, minuteMs } from './things.ts';
import type { Things } from './things.ts';
import { rowsOf } from './trial.ts';
import type { Asked, EndpointTrials, Request } from './trial.ts';

/** A group with two monitors and four tags, for one deletion. */
async function freshGroup(world: World, { varied, byName }: Things, rest: string): Promise<Request> {
  const made = await world.make('POST', '/api/v1/monitor-groups', {
    workspace_id: varied,
    name: `parameters ${world.unique()}`,
    monitor_ids: ['a', 'b'].map((name) => byName.get(name)),
    tags: ['x', 'y', 'x'.repeat(49), 'x'.repeat(50)],
  });
  return { path: `/api/v1/monitor-groups/${String(made.body['id'])}${rest}` };
}

const groupOf = async ({ world, prepared }: Asked): Promise<Record<string, unknown>> =>
  (await world.make('GET', prepared.path.replace(/\/[a-z]+$/, ''))).body;

const removeMonitors: EndpointTrials = {
  of: (world, things) => freshGroup(world, things, '/monitors'),
  parameters: {
    monitor_ids: {
      bounds: { kind: 'several', item: id, most: 50 },
      more: ({ byName }) => ['a', 'b', 'c'].map((name) => String(byName.get(name))),
      effect: async (asked) => {
        const { t, world, prepared, things, value, answer } = asked;
        const members = ['a', 'b'].map((name) => things.byName.get(name));
        const isKnown = [...things.byName.values()].includes(Number(value));
        t.equal(answer.status, isKnown ? 204 : 404, 'it is a monitor of the workspace');
        const left = members.filter((member) => member !== Number(value));
        t.same((await groupOf(asked))['monitor_ids'], left, 'the one that is named is gone');
        await world.make('DELETE', `${prepared.path}?monitor_ids=${members[0]}&monitor_ids=${members[1]}`);
        t.same((await groupOf(asked))['monitor_ids'], [], 'and each of several');
      },
    },
  },
};

const removeTags: EndpointTrials = {
  of: (world, things) => freshGroup(world, things, '/tags'),
  parameters: {
    tags: {
      bounds: { kind: 'several', item: { kind: 'text', least: 1, most: 50 }, most: 20 },
      effect: async (asked) => {
        const { t, world, prepared, value } = asked;
        const left = ['x', 'y', 'x'.repeat(49), 'x'.repeat(50)].filter((tag) => tag !== value);
        t.same((await groupOf(asked))['tags'], left, 'without the one that was named');
        await world.make('DELETE', `${prepared.path}?tags=${left[0]}&tags=${left[1]}`);
        t.same((await groupOf(asked))['tags'], left.slice(2), 'and without each of several');
      },
    },
  },
};

const importPath = '/api/v1/monitors/import/csv';

/** A file of one monitor that nobody has. */
function freshFile(world: World): Request {
  const name = `imported ${world.unique()}`;
  const headers = { 'content-type': 'text/csv' };
  return { path: importPath, body: `name,url\n${name},https://${name.replace(' ', '-')}.example/\n`, headers };
}

/** How often the monitor of a file is there. */
async function there({ world, prepared }: Asked): Promise<number> {
  const name = /\n([^,]+),/.exec(prepared.body ?? '')?.[1] ?? '';
  const list = await world.make(
    'GET',
    `/api/v1/monitors?search=${encodeURIComponent(`${name.replace(' ', '-')}.example`)}`,
  );
  return Number(list.body['total']);
}

const importMonitors: EndpointTrials = {
  of: freshFile,
  parameters: {
    workspace_id: {
      bounds: id,
      more: ({ varied }) => [String(varied)],
      effect: async (asked) => {
        const { t, things, value, answer, world } = asked;
        const isOwn = [things.varied, things.crowded, world.workspaceId].includes(Number(value));
        t.equal(answer.status, isOwn ? 200 : 404, value);
        if (isOwn) t.match(rowsOf(answer, 'rows'), [{ status: 'created', workspace_id: Number(value) }]);
        t.equal(await there(asked), isOwn ? 1 : 0);
      },
    },
    dry_run: {
      bounds: yesOrNo(false),
      effect: async (asked) => {
        asked.t.match(asked.answer.body, { dry_run: asked.value === 'true', created: 1 });
        asked.t.equal(await there(asked), asked.value === 'true' ? 0 : 1, `dry_run=${asked.value}`);
      },
    },
    on_duplicate: {
      bounds: { kind: 'words', words: ['skip', 'create'], byDefault: 'skip' },
      of: async (world) => {
        const file = freshFile(world);
        await world.call('POST', importPath, { token: world.token, body: file.body, headers: { ...file.headers } });
        // Another name for the same target.
        return { ...file, body: (file.body ?? '').replace(/\n([^,]+),/, '\n$1 again,') };
      },
      effect: async (asked) => {
        const isMade = asked.value === 'create';
        asked.t.match(rowsOf(asked.answer, 'rows'), [{ status: isMade ? 'created' : 'skipped' }], asked.value);
        const path = `/api/v1/monitors?search=${encodeURIComponent(/https:[^\n]+/.exec(asked.prepared.body ?? '')?.[0] ?? '')}`;
        asked.t.equal((await asked.world.make('GET', path)).body['total'], isMade ? 2 : 1);
      },
    },
  },
};

/** Shakes hands, and counts with how many. */
const counter = { connections: 0, port: 0 };

async function listening(world: World): Promise<number> {
  if (counter.port !== 0) return counter.port;
  const leaf = await issue({ name: 'leaf', by: await issue({ name: 'root', authority: true }) });
  const server = tls.createServer({ key: leaf.key, cert: leaf.cert }, (socket) => socket.on('error', () => undefined));
  // Before the client can have seen anything of it.
  server.on('connection', () => (counter.connections += 1)).on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  counter.port = (server.address() as AddressInfo).port;
  world.app.server.once('close', () => server.close());
  return counter.port;
}

const chain: EndpointTrials = {
  of: async (world) => {
    const made = await world.make('POST', '/api/v1/monitors', {
      workspace_id: world.workspaceId,
      name: `secured ${world.unique()}`,
      protocol: 'ssl',
      url: `127.0.0.1:${await listening(world)}`,
    });
    return { path: `/api/v1/monitors/${String(made.body['id'])}/cert-chain` };
  },
  parameters: {
    force: {
      bounds: yesOrNo(false),
      effect: async ({ t, world, value, prepared, answer }) => {
        t.match(answer.body, { reachable: true, cached: false }, 'nobody had looked before');
        const before = counter.connections;
        const again = await world.make('GET', `${prepared.path}?force=${value}`);
        t.equal(again.body['cached'], value !== 'true', `kept, with ${value}`);
        t.equal(counter.connections - before, value === 'true' ? 1 : 0, 'handshakes');
      },
    },
  },
};

const steps: Readonly<Record<string, number>> = { '24h': 5, '7d': 30, '30d': 144 };

const history: EndpointTrials = {
  of: (_world, { byName }) => ({ path: `/api/v1/monitors/${byName.get('d')}/dnsbl/provider-history` }),
  parameters: {
    window: {
      bounds: { kind: 'words', words: Object.keys(steps), byDefault: '24h' },
      effect: ({ t, things, value, answer }) => {
        const [provider] = answer.body as unknown as { provider: string; samples: { at: string; state: string }[] }[];
        const times = (provider?.samples ?? []).map(({ at }) => Date.parse(at));
        const lengthMs = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24 }[value] ?? 0;
        const wanted = Math.floor((lengthMs * 60) / (steps[value] ?? 1));
        t.ok(Math.abs(times.length - wanted) <= 1, `${times.length} samples, some ${wanted}`);
        t.ok((times[0] ?? 0) >= things.nowMs - lengthMs * hourMs, 'none of before the window');
        t.equal((times[1] ?? 0) - (times[0] ?? 0), (steps[value] ?? 0) * minuteMs, 'at even distances');
      },
    },
  },
};

/** What looks elsewhere, and what changes something. */
export const ofOthers: Readonly<Record<string, EndpointTrials>> = {
  'GET /api/v1/monitors/{monitor_id}/cert-chain': chain,
  'GET /api/v1/monitors/{monitor_id}/dnsbl/provider-history': history,
  'POST /api/v1/monitors/import/csv': importMonitors,
  'DELETE /api/v1/monitor-groups/{id}/monitors': removeMonitors,
  'DELETE /api/v1/monitor-groups/{id}/tags': removeTags,
};
