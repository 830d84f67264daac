import type { CommonQueryMethods } from 'slonik';
import { sql } from '../../../platform/database/pools.ts';

// As sign-in by the messenger writes it (identity/sign-in/messenger).
const issuer = 'https://telegram.org';

/**
 * Whether the installation's bot may tell a chat what an alert of a user says: the person is linked to the user, or the group to a workspace that the
 * user is a member of. For the worker login.
 */
export async function mayTellChat(
  connection: CommonQueryMethods,
  of: { readonly userId: number; readonly chatId: string },
): Promise<boolean> {
  return connection.exists(sql.unsafe`
    select from messenger_groups g join workspace_members m on m.workspace_id = g.workspace_id
    where g.chat_id::text = ${of.chatId} and m.user_id = ${of.userId}
    union all
    select from messenger_people p where p.user_id = ${of.userId} and p.person_id::text = ${of.chatId}
    union all
    select from identities i
    where i.user_id = ${of.userId} and i.way = 'messenger' and i.issuer = ${issuer} and i.subject = ${of.chatId}`);
}
