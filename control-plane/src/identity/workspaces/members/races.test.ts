import t from 'tap';
import type { TestAnswer } from '../../testing.ts';
import { castApi, inviteToken, sharedAnew } from '../testing.ts';
import type { Cast } from '../testing.ts';

const base = '/api/v1/workspaces';
const rounds = 5;

const statuses = (...answers: readonly TestAnswer[]): string => answers.map((answer) => answer.status).join(' ');

const as = (cast: Cast, who: 'owner' | 'editor' | 'viewer') => ({
  leave: () => cast.call('POST', `${base}/${cast.workspaceId}/leave`, { token: cast[who].accessToken }),
  remove: (member: number) =>
    cast.call('DELETE', `${base}/${cast.workspaceId}/members/${member}`, { token: cast[who].accessToken }),
  setRole: (member: number, role: string) =>
    cast.call('PATCH', `${base}/${cast.workspaceId}/members/${member}`, {
      token: cast[who].accessToken,
      body: { role },
    }),
  transfer: (member: number) =>
    cast.call('POST', `${base}/${cast.workspaceId}/transfer`, {
      token: cast[who].accessToken,
      body: { member_id: member },
    }),
  delete: () => cast.call('DELETE', `${base}/${cast.workspaceId}`, { token: cast[who].accessToken }),
  members: () => cast.call('GET', `${base}/${cast.workspaceId}/members`, { token: cast[who].accessToken }),
});

void t.test('who leaves and is removed at once is gone once', async (t) => {
  const people = await castApi(t);
  for (let round = 0; round < rounds; round += 1) {
    const cast = await sharedAnew(people);
    const { leave } = as(cast, 'editor');
    const { remove, members } = as(cast, 'owner');
    t.match(statuses(...(await Promise.all([leave(), remove(cast.members.editor)]))), /^(200 404|404 204)$/);
    t.match((await members()).body, { total: 2 });
  }
});

void t.test('who leaves does not become the owner, and who becomes the owner does not leave', async (t) => {
  const people = await castApi(t);
  for (let round = 0; round < rounds; round += 1) {
    const cast = await sharedAnew(people);
    const answers = await Promise.all([as(cast, 'editor').leave(), as(cast, 'owner').transfer(cast.members.editor)]);
    t.match(statuses(...answers), /^(200 404|409 200)$/);
    const list = (await as(cast, 'viewer').members()).body['members'] as { role: string }[];
    t.equal(list.filter((member) => member.role === 'owner').length, 1);
  }
});

void t.test('of two transfers at once one is made', async (t) => {
  const people = await castApi(t);
  for (let round = 0; round < rounds; round += 1) {
    const cast = await sharedAnew(people);
    const { transfer } = as(cast, 'owner');
    const answers = await Promise.all([transfer(cast.members.editor), transfer(cast.members.viewer)]);
    t.match(statuses(...answers), /^(200 403|403 200)$/);
  }
});

void t.test('a former owner has no power in a request that began before the transfer', async (t) => {
  const people = await castApi(t);
  for (let round = 0; round < rounds; round += 1) {
    const cast = await sharedAnew(people);
    const { transfer, remove, setRole } = as(cast, 'owner');
    const [transferred, removed, changed] = await Promise.all([
      transfer(cast.members.editor),
      remove(cast.members.editor),
      setRole(cast.members.editor, 'viewer'),
    ]);
    const list = (await as(cast, 'viewer').members()).body['members'] as { id: number; role: string }[];
    const said = statuses(transferred, removed, changed);
    t.equal(list.filter((member) => member.role === 'owner').length, 1, said);
    if (transferred.status === 200) t.match(list[0], { id: cast.members.editor, role: 'owner' }, said);
    else t.match(list[0], { id: cast.members.owner, role: 'owner' }, said);
  }
});

void t.test('nobody joins a workspace that is deleted', async (t) => {
  const people = await castApi(t);
  for (let round = 0; round < rounds; round += 1) {
    const cast = await sharedAnew(people);
    const token = await inviteToken(cast, cast.workspaceId, cast.owner);
    const [accepted, deleted] = await Promise.all([
      cast.call('POST', `${base}/invites/accept`, { token: cast.stranger.accessToken, body: { token } }),
      as(cast, 'owner').delete(),
    ]);
    t.equal(deleted.status, 204);
    t.match(String(accepted.status), /^(200|404)$/);
    const list = await cast.call('GET', `${base}/summary`, { token: cast.stranger.accessToken });
    t.match(list.body, { total: 2 }, 'their own two');
  }
});

void t.test('roles that are set at once are one of them, and a removed member has none', async (t) => {
  const people = await castApi(t);
  for (let round = 0; round < rounds; round += 1) {
    const cast = await sharedAnew(people);
    const { setRole, remove } = as(cast, 'owner');
    const [, , removed] = await Promise.all([
      setRole(cast.members.viewer, 'editor'),
      setRole(cast.members.viewer, 'viewer'),
      remove(cast.members.viewer),
    ]);
    t.equal(removed.status, 204);
    t.equal((await as(cast, 'viewer').members()).status, 404);
  }
});

void t.test('the owner stays: not changed, not removed, not leaving', async (t) => {
  const cast = await castApi(t);
  const { leave, remove, setRole } = as(cast, 'owner');
  t.match(await leave(), { status: 409, body: { code: 'conflict' } });
  t.match(await remove(cast.members.owner), { status: 409, body: { code: 'conflict' } });
  t.match(await setRole(cast.members.owner, 'viewer'), { status: 409, body: { code: 'conflict' } });
  for (const role of ['owner', '', 'administrator', null]) {
    t.equal((await setRole(cast.members.editor, role as string)).status, 422, String(role));
  }
});
