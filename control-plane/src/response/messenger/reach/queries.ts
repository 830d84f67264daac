import type { CommonQueryMethods } from 'slonik';
import { sql } from '../../../platform/database/pools.ts';

// As sign-in by the messenger writes it (identity/sign-in/messenger).
const issuer = 'https://telegram.org';

/**
 * Whether the installation's bot may tell a chat what an alert says: the group is linked to the alert's workspace, or the person to its owner. Without
 * this, whoever guesses the number of a chat could have the bot write to strangers. For the worker login.
 */
export async function mayTellChat(
  connection: CommonQueryMethods,
  of: { readonly workspaceId: number | null; readonly userId: number; readonly chatId: string },
): Promise<boolean> {
  return connection.exists(sql.unsafe`
    select from messenger_groups g
    where g.chat_id::text = ${of.chatId} and (g.workspace_id = ${of.workspaceId} or ${of.workspaceId}::integer is null and g.workspace_id in (
      select m.workspace_id from workspace_members m where m.user_id = ${of.userId}))
    union all
    select from messenger_people p where p.user_id = ${of.userId} and p.person_id::text = ${of.chatId}
    union all
    select from identities i
    where i.user_id = ${of.userId} and i.way = 'messenger' and i.issuer = ${issuer} and i.subject = ${of.chatId}`);
}
