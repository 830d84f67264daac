import type { CommonQueryMethods } from 'slonik';
import { sql } from '../../../platform/database/pools.ts';

// As sign-in by the messenger writes it (identity/sign-in/messenger).
const issuer = 'https://telegram.org';

type Value = ReturnType<typeof sql.fragment>;

/**
 * Whether the installation's bot may tell a chat what an alert of a user says, as a condition: the person is linked to the user, or the group to a
 * workspace that the user is a member of.
 */
export const isLinkedChat = (userId: Value, chatId: Value) => sql.fragment`exists (
    select from messenger_groups g join workspace_members gm on gm.workspace_id = g.workspace_id
    where g.chat_id::text = ${chatId} and gm.user_id = ${userId}
    union all
    select from messenger_people p where p.user_id = ${userId} and p.person_id::text = ${chatId}
    union all
    select from identities i
    where i.user_id = ${userId} and i.way = 'messenger' and i.issuer = ${issuer} and i.subject = ${chatId})`;

/** The same of one chat. For the worker login, or that of the API in the scope of the user. */
export async function mayTellChat(
  connection: CommonQueryMethods,
  of: { readonly userId: number; readonly chatId: string },
): Promise<boolean> {
  return connection.exists(sql.unsafe`
    select where ${isLinkedChat(sql.fragment`${of.userId}::integer`, sql.fragment`${of.chatId}::text`)}`);
}
