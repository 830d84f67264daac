import { createHash } from 'node:crypto';
import { z } from 'zod';

/** Somebody of the messenger. */
const person = z.object({ id: z.number(), name: z.string(), language: z.string().nullable() });
export type Person = z.output<typeof person>;

const chat = z.object({ id: z.number(), kind: z.enum(['private', 'group']), title: z.string() });
export type Chat = z.output<typeof chat>;

/** What the bot was told, as far as it matters; what is kept of an update. */
export const incomingSchema = z.discriminatedUnion('kind', [
  /** Somebody wrote a command. The token of a deep link is there as its SHA-256 only. */
  z.object({
    kind: z.literal('command'),
    chat,
    from: person,
    /** In lower case, without the slash; empty for words to the bot that are no command. */
    name: z.string(),
    /** The bot that it names, in lower case; null when it names none. */
    addressee: z.string().nullable(),
    rest: z.string(),
    tokenHash: z.string().nullable(),
    at: z.number(),
  }),
  /** Somebody pressed a button under a message. */
  z.object({
    kind: z.literal('button'),
    queryId: z.string(),
    from: person,
    chat: chat.nullable(),
    messageId: z.number().nullable(),
    data: z.string(),
  }),
  /** The bot is no member of a group any more, or a person has blocked it. */
  z.object({ kind: z.literal('left'), chat }),
  /** A group has another number now. */
  z.object({ kind: z.literal('moved'), fromChatId: z.number(), toChatId: z.number() }),
]);
export type Incoming = z.output<typeof incomingSchema>;

/** An update by its number; `incoming` is null for what does not matter. */
export type Update = { readonly updateId: number; readonly incoming: Incoming | null };

const number = z.number().int().min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER);
// NUL cannot be kept by the database, and neither can half a pair of surrogates.
const text = z.string().transform((given) => given.toWellFormed().replaceAll('\0', ' '));

const user = z.object({
  id: number,
  first_name: text.catch(''),
  last_name: text.optional().catch(undefined),
  username: text.optional().catch(undefined),
  language_code: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,35}$/)
    .optional()
    .catch(undefined),
});
const tgChat = z.object({ id: number, type: z.string(), title: text.optional().catch(undefined) });
const message = z.object({
  message_id: number,
  date: z.number().catch(0),
  chat: tgChat,
  from: user.optional().catch(undefined),
  text: text.optional().catch(undefined),
  migrate_to_chat_id: number.optional().catch(undefined),
  migrate_from_chat_id: number.optional().catch(undefined),
});
const update = z.object({
  update_id: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  message: message.optional().catch(undefined),
  callback_query: z
    .object({
      id: z.string().regex(/^[!-~]{1,256}$/),
      from: user,
      message: z.object({ message_id: number, chat: tgChat }).optional().catch(undefined),
      data: text.pipe(z.string().max(256)).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  my_chat_member: z
    .object({
      chat: tgChat,
      new_chat_member: z.object({ status: z.string(), is_member: z.boolean().optional().catch(undefined) }),
    })
    .optional()
    .catch(undefined),
});

/** Reads an update (https://core.telegram.org/bots/api#update); null for what is none. Never throws. */
export function readUpdate(given: unknown): Update | null {
  const parsed = update.safeParse(given);
  if (!parsed.success) return null;
  const { update_id: updateId, message: said, callback_query: pressed, my_chat_member: membership } = parsed.data;
  const incoming =
    (said === undefined ? null : incomingOfMessage(said)) ??
    (pressed === undefined ? null : incomingOfButton(pressed)) ??
    (membership === undefined ? null : incomingOfMembership(membership));
  return { updateId, incoming };
}

/** The chat that an update is of; 0 for none. */
export function chatIdOf(incoming: Incoming): number {
  if (incoming.kind === 'moved') return incoming.fromChatId;
  return incoming.chat?.id ?? 0;
}

/** Longer commands are cut: no name of a monitor is longer. */
const mostText = 300;

function incomingOfMessage(said: z.output<typeof message>): Incoming | null {
  if (said.migrate_to_chat_id !== undefined) {
    return { kind: 'moved', fromChatId: said.chat.id, toChatId: said.migrate_to_chat_id };
  }
  if (said.migrate_from_chat_id !== undefined) {
    return { kind: 'moved', fromChatId: said.migrate_from_chat_id, toChatId: said.chat.id };
  }
  const of = chatOf(said.chat);
  if (of === null || said.from === undefined || said.text === undefined) return null;
  const found = /^\/([A-Za-z0-9_]{1,32})(?:@([A-Za-z0-9_]{1,64}))?(?:\s+|$)([\s\S]*)$/.exec(
    said.text.slice(0, mostText).toWellFormed(),
  );
  // Among people the bot speaks when it is spoken to.
  if (found === null && of.kind === 'group') return null;
  const name = (found?.[1] ?? '').toLowerCase();
  const rest = (found?.[3] ?? '').trim();
  const isToken = name === 'start' && /^[A-Za-z0-9_-]{1,64}$/.test(rest);
  return {
    kind: 'command',
    chat: of,
    from: personOf(said.from),
    name,
    addressee: found?.[2]?.toLowerCase() ?? null,
    rest: isToken ? '' : rest,
    tokenHash: isToken ? createHash('sha256').update(rest).digest('hex') : null,
    at: said.date * 1_000,
  };
}

function incomingOfButton(pressed: NonNullable<z.output<typeof update>['callback_query']>): Incoming | null {
  const of = pressed.message === undefined ? null : chatOf(pressed.message.chat);
  return {
    kind: 'button',
    queryId: pressed.id,
    from: personOf(pressed.from),
    chat: of,
    messageId: of === null ? null : (pressed.message?.message_id ?? null),
    data: pressed.data ?? '',
  };
}

function incomingOfMembership(membership: NonNullable<z.output<typeof update>['my_chat_member']>): Incoming | null {
  const { status, is_member: isMember } = membership.new_chat_member;
  const of = chatOf(membership.chat);
  const isOut = status === 'left' || status === 'kicked' || (status === 'restricted' && isMember === false);
  return of !== null && isOut ? { kind: 'left', chat: of } : null;
}

/** Channels are no place for a bot that answers. */
function chatOf(given: z.output<typeof tgChat>): Chat | null {
  if (given.type === 'private') return { id: given.id, kind: 'private', title: '' };
  if (given.type !== 'group' && given.type !== 'supergroup') return null;
  return {
    id: given.id,
    kind: 'group',
    title:
      withoutControls(given.title ?? '')
        .slice(0, 255)
        .toWellFormed() || String(given.id),
  };
}

function personOf(given: z.output<typeof user>): Person {
  const full = [given.first_name, given.last_name ?? ''].join(' ').trim();
  return {
    id: given.id,
    name: withoutControls(full === '' ? (given.username ?? '') : full)
      .slice(0, 200)
      .toWellFormed(),
    language: given.language_code ?? null,
  };
}

/** In one line. */
function withoutControls(given: string): string {
  return given.replaceAll(/\p{Cc}+/gu, ' ').trim();
}
