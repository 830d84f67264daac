import { Problem } from '@parallax/api-contract';
import type { Monitor } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { countMonitorsByCategory, monitorsPage, setMonitorActive } from '../../../monitoring/monitors/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { namedWorkspaces, retitle, workspacesOfChat } from '../groups/queries.ts';
import type { ChatWorkspace } from '../groups/queries.ts';
import type { MessengerHooks } from '../hooks.ts';
import { linkChat } from '../links/gateway.ts';
import { findMember } from '../people/queries.ts';
import type { Member } from '../people/queries.ts';
import type { Incoming } from '../updates/incoming.ts';
import type { Answer } from '../updates/queries.ts';
import { localeOf, wordsOf } from '../words/words.ts';
import type { Listed, Words } from '../words/words.ts';
import type { Command } from './command.ts';
import { fitted } from './fitted.ts';
import { findMeant } from './queries.ts';
import { othersOf } from './watched.queries.ts';
import { clockTime } from './clock-time.ts';

type Said = Extract<Incoming, { kind: 'command' }>;

/** Monitors that one answer lists, over all workspaces of the chat. */
const mostListed = 30;
/** Of one workspace in an overview. */
const mostDown = 10;
/** Workspaces that one answer tells of. */
const mostWorkspaces = 5;

/** Who asks, where, and what they may see and change there. */
export type Asking = {
  readonly said: Said;
  readonly member: Member | null;
  readonly words: Words;
  /** What the chat is about: what its group is linked to, or, between two, all that the member sees. */
  readonly workspaces: readonly ChatWorkspace[];
  /** Of these, what the member may change. */
  readonly writable: readonly ChatWorkspace[];
};

/** Does what a command asks for. @returns what is said about it, as the messenger's HTML */
export async function obey(
  context: Context,
  hooks: MessengerHooks,
  said: Said,
  command: Command,
  updateId: bigint,
): Promise<Answer[]> {
  const member = await findMember(context.database.worker, said.from.id);
  const words = wordsOf(member?.locale ?? localeOf(said.from.language));
  const asking = { ...(await reachOf(context, said, member)), said, member, words };
  const text = await told(context, hooks, asking, command, updateId);
  return [
    {
      method: 'sendMessage',
      params: { chat_id: said.chat.id, text, parse_mode: 'HTML', link_preview_options: { is_disabled: true } },
    },
  ];
}

async function reachOf(
  context: Context,
  said: Said,
  member: Member | null,
): Promise<Pick<Asking, 'workspaces' | 'writable'>> {
  const { worker } = context.database;
  const roles = member?.caller.workspaces ?? new Map<number, string>();
  if (said.chat.kind === 'group') await retitle(worker, said.chat);
  const workspaces =
    said.chat.kind === 'group'
      ? await workspacesOfChat(worker, said.chat.id)
      : await namedWorkspaces(worker, [...roles.keys()]);
  return { workspaces, writable: workspaces.filter(({ id }) => ['editor', 'owner'].includes(roles.get(id) ?? '')) };
}

async function told(
  context: Context,
  hooks: MessengerHooks,
  asking: Asking,
  command: Command,
  updateId: bigint,
): Promise<string> {
  const { words, said } = asking;
  switch (command.kind) {
    case 'help':
      return words.help(asking.member !== null);
    case 'usage':
      return words.usage[command.of];
    case 'link': {
      const { isLinked, text } = await linkChat(context, said, Buffer.from(command.tokenHash, 'hex'), words, updateId);
      if (isLinked) await hooks.onChatBack(context, said.chat.id);
      return text;
    }
    case 'status':
      return noReach(asking) ?? (await overview(context, asking));
    case 'list':
      return noReach(asking) ?? (await listing(context, asking));
    case 'pause':
    case 'resume':
      return noRight(asking) ?? (await switching(context, asking, command, updateId));
    case 'mute':
      return noRight(asking) ?? (await muting(context, hooks, asking, context.now() + command.minutes * 60_000));
    case 'unmute':
      return noRight(asking) ?? (await muting(context, hooks, asking, null));
  }
}

/** What is said to somebody who sees nothing here. A linked group is read by its members, known or not. */
function noReach({ said, member, words, workspaces }: Asking): string | null {
  if (workspaces.length > 0) return null;
  if (said.chat.kind === 'group') return words.groupNotLinked;
  return member === null ? [words.notLinked, '', words.help(true)].join('\n') : words.nothingHere;
}

/** What is said to somebody who may change nothing here. */
function noRight(asking: Asking): string | null {
  const { member, words, workspaces, writable } = asking;
  if (member === null) return noReach(asking) ?? words.notLinked;
  return noReach({ ...asking, workspaces }) ?? (writable.length === 0 ? words.needsEditor : null);
}

const scopeOver = (workspaces: readonly ChatWorkspace[], member: Member | null): Scope => ({
  userId: member?.caller.userId ?? null,
  workspaceIds: workspaces.map(({ id }) => id),
});

async function overview(context: Context, { workspaces, member, words }: Asking): Promise<string> {
  const shown = workspaces.slice(0, mostWorkspaces);
  const parts = await inScope(context.database.api, scopeOver(shown, member), async (tx) => {
    const found = [];
    for (const workspace of shown) {
      const scope = scopeOver([workspace], member);
      const counts = await countMonitorsByCategory(tx, scope);
      const most = Math.min(mostDown, Math.floor(mostListed / shown.length));
      const { listed } = await pageOf(context, tx, scope, { status_filter: 'down', page_size: most });
      const others = await othersOf(scope, tx, { onlyDown: true, most }, context.now());
      found.push({ name: workspace.name, counts, listed, others });
    }
    return found;
  });
  return fitted(parts, ({ name, counts, listed, others }) => words.status(name, counts, listed, others));
}

async function listing(context: Context, { workspaces, member, words }: Asking): Promise<string> {
  const shown = workspaces.slice(0, mostWorkspaces);
  const parts = await inScope(context.database.api, scopeOver(shown, member), async (tx) => {
    const found = [];
    for (const workspace of shown) {
      const scope = scopeOver([workspace], member);
      const most = Math.floor(mostListed / shown.length);
      const { listed, total } = await pageOf(context, tx, scope, { page_size: most });
      const others = await othersOf(scope, tx, { onlyDown: false, most }, context.now());
      found.push({ name: workspace.name, listed, total, others });
    }
    return found;
  });
  return fitted(parts, ({ name, listed, total, others }) => words.list(name, listed, total, others));
}

async function pageOf(
  context: Context,
  tx: Parameters<typeof monitorsPage>[0],
  scope: Scope,
  filter: { readonly status_filter?: 'down'; readonly page_size: number },
): Promise<{ readonly listed: readonly Listed[]; readonly total: number }> {
  const page = await monitorsPage(tx, scope, { ...filter, page: 1, tags: [], sort: 'status', order: 'asc' });
  const nowMs = context.now();
  const monitors = JSON.parse(page.monitorsJson) as readonly Monitor[];
  const listed = monitors.map(({ id, name, status, paused_by: pausedBy, status_since: since }) => ({
    id,
    name,
    status,
    isPaused: pausedBy !== null,
    sinceMs: since === null ? null : nowMs - Date.parse(since),
  }));
  return { listed, total: page.total };
}

async function switching(
  context: Context,
  { writable, member, words }: Asking,
  command: Extract<Command, { kind: 'pause' | 'resume' }>,
  updateId: bigint,
): Promise<string> {
  if (member === null) return words.notLinked;
  const scope = scopeOver(writable, member);
  const found = await inScope(context.database.api, scope, (tx) => findMeant(scope, tx, command.which));
  const [meant, another] = found;
  if (meant === undefined) return words.unknownMonitor(command.which);
  if (another !== undefined) return words.ambiguous(command.which, found);
  const isActive = command.kind === 'resume';
  // What is not this chat's business does not exist here.
  const caller: Caller = {
    ...member.caller,
    workspaces: new Map([...member.caller.workspaces].filter(([id]) => scope.workspaceIds.includes(id))),
  };
  try {
    const { name } = await setMonitorActive(context, { caller, request: requestOf(updateId) }, meant.id, isActive);
    return isActive ? words.resumed(name) : words.paused(name);
  } catch (error) {
    if (error instanceof Problem) return refusalOf(error, words, command.which);
    throw error;
  }
}

function refusalOf(problem: Problem, words: Words, wanted: string): string {
  if (problem.code === 'not_found') return words.unknownMonitor(wanted);
  if (problem.code === 'forbidden') return words.needsEditor;
  return words.refused(problem.message);
}

async function muting(
  context: Context,
  hooks: MessengerHooks,
  { writable, said, member, words }: Asking,
  untilMs: number | null,
): Promise<string> {
  if (member === null) return words.notLinked;
  const { userId } = member.caller;
  let muted = 0;
  for (const { id } of writable) {
    muted += await hooks.muteAlerts(context, { workspaceId: id, chatId: said.chat.id, userId }, untilMs);
  }
  if (muted === 0) return words.nothingToMute;
  if (untilMs === null) return words.unmuted(muted);
  return words.muted(clockTime(untilMs, member.locale, member.timezone), muted);
}

/** What the audit log says of where something came from. */
export function requestOf(updateId: bigint): {
  readonly requestId: string;
  readonly remoteAddress: string;
  readonly header: (name: string) => string | undefined;
} {
  return { requestId: `messenger-${updateId}`, remoteAddress: 'messenger', header: () => undefined };
}
