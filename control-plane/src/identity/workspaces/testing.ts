import type { TestContext } from '@parallax/testkit';
import { sql } from '../../platform/database/pools.ts';
import { openMail } from '../../platform/mail/mail.ts';
import type { Mail } from '../../platform/mail/mail.ts';
import { z } from 'zod';
import { testApi } from '../testing.ts';
import type { TestAccount, TestApi, TestApiOptions } from '../testing.ts';

export type Cast = TestApi & {
  readonly owner: TestAccount;
  readonly editor: TestAccount;
  readonly viewer: TestAccount;
  readonly stranger: TestAccount;
  /** Owned by the owner, with an editor and a viewer; not the default of any of them. */
  readonly workspaceId: number;
  /** Numbers of the memberships. */
  readonly members: { readonly owner: number; readonly editor: number; readonly viewer: number };
  /** A member of the stranger's own workspace, and that workspace. */
  readonly elsewhere: { readonly workspaceId: number; readonly memberId: number };
};

/** For tests: a shared workspace, whose members joined by invitations, and a stranger. */
export async function castApi(t: TestContext, options: TestApiOptions = {}): Promise<Cast> {
  const api = await testApi(t, options);
  const owner = await api.account('owner@example.com');
  const editor = await api.account('editor@example.com');
  const viewer = await api.account('viewer@example.com');
  const stranger = await api.account('stranger@example.com');
  const elsewhere = await newWorkspace(api, stranger, 'elsewhere');
  return sharedAnew({
    ...api,
    owner,
    editor,
    viewer,
    stranger,
    elsewhere: { workspaceId: elsewhere, memberId: await memberId(api, elsewhere, stranger, stranger.id) },
  });
}

/** For tests: the same people with another shared workspace; cheaper than new people, whose passwords are hashed. */
export async function sharedAnew(cast: Omit<Cast, 'workspaceId' | 'members'>): Promise<Cast> {
  const { owner, editor, viewer } = cast;
  const workspaceId = await newWorkspace(cast, owner, 'shared');
  await join(cast, workspaceId, owner, editor, 'editor');
  await join(cast, workspaceId, owner, viewer, 'viewer');
  return {
    ...cast,
    workspaceId,
    members: {
      owner: await memberId(cast, workspaceId, owner, owner.id),
      editor: await memberId(cast, workspaceId, owner, editor.id),
      viewer: await memberId(cast, workspaceId, owner, viewer.id),
    },
  };
}

/** For tests: a workspace of an account. @returns its identifier */
export async function newWorkspace(api: TestApi, account: TestAccount, name: string): Promise<number> {
  const made = await api.call('POST', '/api/v1/workspaces', { token: account.accessToken, body: { name } });
  if (made.status !== 201) throw new Error(`create a workspace: ${made.status} ${made.text}`);
  return Number(made.body['id']);
}

/** For tests: the token of a new link. */
export async function inviteToken(
  api: TestApi,
  workspaceId: number,
  owner: TestAccount,
  role = 'editor',
): Promise<string> {
  const path = `/api/v1/workspaces/${workspaceId}/invites`;
  const made = await api.call('POST', path, { token: owner.accessToken, body: { role } });
  if (made.status !== 201) throw new Error(`invite: ${made.status} ${made.text}`);
  return String(made.body['token']);
}

/** For tests: makes an account a member by a link. */
async function join(
  api: TestApi,
  workspaceId: number,
  owner: TestAccount,
  account: TestAccount,
  role: 'editor' | 'viewer',
): Promise<void> {
  const token = await inviteToken(api, workspaceId, owner, role);
  const done = await api.call('POST', '/api/v1/workspaces/invites/accept', {
    token: account.accessToken,
    body: { token },
  });
  if (done.status !== 200) throw new Error(`accept: ${done.status} ${done.text}`);
}

/** For tests: the number of a user's membership. */
async function memberId(api: TestApi, workspaceId: number, owner: TestAccount, userId: number): Promise<number> {
  const list = await api.call('GET', `/api/v1/workspaces/${workspaceId}/members?page_size=100`, {
    token: owner.accessToken,
  });
  const members = list.body['members'] as { id: number; user: { id: number } | null }[];
  const found = members.find((member) => member.user?.id === userId);
  if (found === undefined) throw new Error(`user ${userId} is no member: ${list.text}`);
  return found.id;
}

/** For tests: the mails that wait in the outbox, oldest first, but for those that confirm the address of an account. */
export async function mailsOf(api: TestApi): Promise<readonly Mail[]> {
  const payloads = await api.database.worker.anyFirst(
    sql.type(
      z.object({ payload: z.object({ sealed: z.string() }) }),
    )`select payload from outbox where kind = 'mail.send' order by id`,
  );
  const mails = payloads.map((payload) => openMail(api.context.sealer, payload));
  return mails.filter(({ text }) => !text.includes('/auth/confirm-email#'));
}

/** For tests: the token in the link of a mail. */
export function tokenIn(mail: Mail | undefined): string {
  const token = /\/invites#([\w-]+)/.exec(mail?.text ?? '')?.[1];
  if (token === undefined) throw new Error(`no link in ${mail?.text}`);
  return token;
}
