import t from 'tap';
import { placeOf } from './place.ts';
import type { Workspace } from './place.ts';

const workspaces: readonly Workspace[] = [
  { id: 1, name: 'Home', role: 'owner', isDefault: true },
  { id: 2, name: 'Team', role: 'editor', isDefault: false },
  { id: 3, name: 'Look', role: 'viewer', isDefault: false },
  { id: 4, name: 'Twin', role: 'owner', isDefault: false },
  { id: 5, name: 'Twin', role: 'editor', isDefault: false },
  { id: 6, name: 'Caf\u00e9', role: 'editor', isDefault: false },
  { id: 7, name: 'Half', role: 'viewer', isDefault: false },
  { id: 8, name: 'Half', role: 'editor', isDefault: false },
];

void t.test('a row goes where the request says, else where it says itself, else to the default', async (t) => {
  t.same(placeOf(9, 'Team', workspaces), { kind: 'at', workspaceId: 9 });
  t.same(placeOf(undefined, 'Team', workspaces), { kind: 'at', workspaceId: 2 });
  t.same(placeOf(undefined, undefined, workspaces), { kind: 'at', workspaceId: 1 });
  t.same(placeOf(undefined, 'Cafe\u0301', workspaces), { kind: 'at', workspaceId: 6 }, 'compared in NFC');
  t.same(placeOf(undefined, 'Half', workspaces), { kind: 'at', workspaceId: 8 }, 'the one that may be written to');
});

void t.test('what cannot be placed says why', async (t) => {
  t.match(placeOf(undefined, 'Look', workspaces), { kind: 'nowhere', code: 'forbidden' });
  t.match(placeOf(undefined, 'Twin', workspaces), { kind: 'nowhere', code: 'workspace_ambiguous' });
  t.match(placeOf(undefined, 'team', workspaces), { kind: 'nowhere', code: 'workspace_unknown', reason: /"team"/ });
  t.match(placeOf(undefined, undefined, workspaces.slice(1)), { kind: 'nowhere', code: 'workspace_unknown' });
});
