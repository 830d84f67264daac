import t from 'tap';
import { castApi, sharedAnew } from './testing.ts';
import type { Cast } from './testing.ts';

type Who = 'nobody' | 'stranger' | 'viewer' | 'editor' | 'owner' | 'key';
const everybody: readonly Who[] = ['nobody', 'stranger', 'viewer', 'editor', 'owner', 'key'];

type Entry = {
  readonly name: string;
  readonly method: string;
  readonly path: (cast: Cast) => string;
  readonly body?: (cast: Cast) => unknown;
  /** Statuses in the order of `everybody`; what succeeds is tried last, since it may end what the others need. */
  readonly expected: readonly [number, number, number, number, number, number];
};

const at =
  (suffix: string) =>
  ({ workspaceId }: Cast) =>
    `/api/v1/workspaces/${workspaceId}${suffix}`;
const atMember = (cast: Cast) => `/api/v1/workspaces/${cast.workspaceId}/members/${cast.members.editor}`;
const name = () => ({ name: 'renamed' });
const role = () => ({ role: 'viewer' });

/** The role table of workspaces: nobody, a stranger, viewer, editor, owner, an API key of the owner. */
const table: readonly Entry[] = [
  entry('list', 'GET', () => '/api/v1/workspaces', [401, 200, 200, 200, 200, 403]),
  entry('summary', 'GET', () => '/api/v1/workspaces/summary', [401, 200, 200, 200, 200, 403]),
  entry('default', 'GET', () => '/api/v1/workspaces/default', [401, 200, 200, 200, 200, 403]),
  entry('create', 'POST', () => '/api/v1/workspaces', [401, 201, 201, 201, 201, 403], name),
  entry('read', 'GET', at(''), [401, 404, 200, 200, 200, 403]),
  entry('rename', 'PUT', at(''), [401, 404, 403, 403, 200, 403], name),
  entry('delete', 'DELETE', at(''), [401, 404, 403, 403, 204, 403]),
  entry('set default', 'POST', at('/set-default'), [401, 404, 200, 200, 200, 403]),
  entry('members', 'GET', at('/members'), [401, 404, 200, 200, 200, 403]),
  entry('invite by mail', 'POST', at('/members'), [401, 404, 403, 403, 201, 403], () => ({ email: 'x@example.com' })),
  entry('change role', 'PATCH', atMember, [401, 404, 403, 403, 200, 403], role),
  entry('remove', 'DELETE', atMember, [401, 404, 403, 403, 204, 403]),
  entry('leave', 'POST', at('/leave'), [401, 404, 200, 200, 409, 403]),
  entry('transfer', 'POST', at('/transfer'), [401, 404, 403, 403, 200, 403], ({ members }) => ({
    member_id: members.editor,
  })),
  entry('invites', 'GET', at('/invites'), [401, 404, 403, 403, 200, 403]),
  entry('make a link', 'POST', at('/invites'), [401, 404, 403, 403, 201, 403], () => ({})),
  entry('withdraw', 'DELETE', at('/invites/2147483647'), [401, 404, 403, 403, 404, 403]),
  entry(
    'accept',
    'POST',
    () => '/api/v1/workspaces/invites/accept',
    [401, 404, 404, 404, 404, 403],
    () => ({
      token: 'x',
    }),
  ),
];

function entry(
  named: string,
  method: string,
  path: Entry['path'],
  expected: Entry['expected'],
  body?: Entry['body'],
): Entry {
  return { name: named, method, path, expected, ...(body === undefined ? {} : { body }) };
}

void t.test('the role table', async (t) => {
  const people = await castApi(t);
  const key = await people.call('POST', '/api/v1/api-keys', { token: people.owner.accessToken, body: { name: 'ci' } });
  for (const one of table) {
    const cast = await sharedAnew(people);
    const credentials: Record<Who, { token?: string; key?: string }> = {
      nobody: {},
      stranger: { token: cast.stranger.accessToken },
      viewer: { token: cast.viewer.accessToken },
      editor: { token: cast.editor.accessToken },
      owner: { token: cast.owner.accessToken },
      key: { key: String(key.body['key']) },
    };
    const order = everybody
      .map((who, index) => ({ who, status: one.expected[index] ?? 0 }))
      .toSorted((a, b) => Number(a.status < 300) - Number(b.status < 300));
    for (const { who, status } of order) {
      const body = one.body?.(cast);
      const got = await cast.call(one.method, one.path(cast), {
        ...credentials[who],
        ...(body === undefined ? {} : { body }),
      });
      t.equal(got.status, status, `${one.name}, ${who}: ${got.text.slice(0, 200)}`);
    }
  }
});

void t.test('identifiers of another workspace, in paths and bodies, are those of nothing', async (t) => {
  const cast = await castApi(t);
  const token = cast.owner.accessToken;
  const { workspaceId, elsewhere } = cast;
  const link = await cast.call('POST', `/api/v1/workspaces/${elsewhere.workspaceId}/invites`, {
    token: cast.stranger.accessToken,
  });
  t.equal(link.status, 201, 'a body is not needed');
  const own = `/api/v1/workspaces/${workspaceId}`;
  const foreign = `/api/v1/workspaces/${elsewhere.workspaceId}`;
  const tries: [string, string, unknown][] = [
    ['PATCH', `${own}/members/${elsewhere.memberId}`, { role: 'viewer' }],
    ['DELETE', `${own}/members/${elsewhere.memberId}`, undefined],
    ['DELETE', `${own}/members/${String(link.body['id'])}`, undefined],
    ['DELETE', `${own}/invites/${String(link.body['id'])}`, undefined],
    ['POST', `${own}/transfer`, { member_id: elsewhere.memberId }],
    ['DELETE', `${foreign}/members/${cast.members.editor}`, undefined],
    ['DELETE', `${foreign}/members/${elsewhere.memberId}`, undefined],
    ['GET', `${foreign}/members`, undefined],
    ['GET', `${foreign}/invites`, undefined],
    ['POST', `${foreign}/leave`, undefined],
  ];
  for (const [method, path, body] of tries) {
    const got = await cast.call(method, path, { token, ...(body === undefined ? {} : { body }) });
    t.match(got, { status: 404, body: { code: 'not_found' } }, `${method} ${path}`);
  }
  t.match(await cast.call('GET', `${foreign}/invites`, { token: cast.stranger.accessToken }), { body: { total: 1 } });
  t.match(await cast.call('GET', `${foreign}/members`, { token: cast.stranger.accessToken }), { body: { total: 1 } });
});

void t.test('identifiers of another own workspace are not those of this one', async (t) => {
  const cast = await castApi(t);
  const token = cast.owner.accessToken;
  const other = await sharedAnew(cast);
  const at = (id: number) => `/api/v1/workspaces/${id}`;
  const mailed = await cast.call('POST', `${at(other.workspaceId)}/members`, {
    token,
    body: { email: 'x@example.com' },
  });
  const link = await cast.call('POST', `${at(other.workspaceId)}/invites`, { token });
  const [mailedId, linkId] = [String(mailed.body['id']), String(link.body['id'])];
  const tries = [String(other.members.editor), mailedId, linkId].flatMap((id): [string, string, unknown][] => [
    ['PATCH', `/members/${id}`, { role: 'viewer' }],
    ['DELETE', `/members/${id}`, undefined],
    ['POST', '/transfer', { member_id: Number(id) }],
    ['DELETE', `/invites/${id}`, undefined],
  ]);
  for (const [method, suffix, body] of tries) {
    const got = await cast.call(method, at(cast.workspaceId) + suffix, {
      token,
      ...(body === undefined ? {} : { body }),
    });
    t.match(got, { status: 404, body: { code: 'not_found' } }, `${method} ${suffix}`);
  }
  t.match((await cast.call('GET', `${at(cast.workspaceId)}/members`, { token })).body, { total: 3 });
  t.match((await cast.call('GET', `${at(cast.workspaceId)}/invites`, { token })).body, { total: 0 });
  const roles = (await cast.call('GET', `${at(other.workspaceId)}/members`, { token })).body['members'];
  t.match(roles, [{ role: 'owner' }, { role: 'editor' }, { role: 'viewer' }, { role: 'editor', status: 'invited' }]);
  t.equal(
    (await cast.call('DELETE', `${at(other.workspaceId)}/members/${linkId}`, { token })).status,
    404,
    'a link is no member',
  );
});

void t.test('an administrator of the installation is a stranger in workspaces of others', async (t) => {
  const cast = await castApi(t);
  const token = cast.owner.accessToken;
  t.match(await cast.call('GET', '/api/v1/auth/me', { token }), { body: { is_administrator: true } });
  const path = `/api/v1/workspaces/${cast.elsewhere.workspaceId}`;
  t.equal((await cast.call('GET', path, { token })).status, 404);
  t.equal((await cast.call('DELETE', path, { token })).status, 404);
});

void t.test('a role takes effect at once, also for a token that lives', async (t) => {
  const cast = await castApi(t);
  const { accessToken: token } = cast.editor;
  const member = `/api/v1/workspaces/${cast.workspaceId}/members/${cast.members.editor}`;
  const own = cast.owner.accessToken;
  const read = () => cast.call('GET', `/api/v1/workspaces/${cast.workspaceId}`, { token });
  t.match(await read(), { status: 200, body: { role: 'editor', ping_key: /^[\w-]{32}$/ } });
  t.match(await cast.call('PATCH', member, { token: own, body: { role: 'viewer' } }), {
    status: 200,
    body: { id: cast.members.editor, role: 'viewer', status: 'active', email: 'editor@example.com' },
  });
  t.match(await read(), { status: 200, body: { role: 'viewer', ping_key: null } });
  t.equal((await cast.call('DELETE', member, { token: own })).status, 204);
  t.equal((await read()).status, 404);
  t.match(await cast.call('GET', '/api/v1/workspaces', { token }), { status: 200, body: { total: 1 } });
  t.equal((await cast.call('DELETE', member, { token: own })).status, 404, 'once');
});
