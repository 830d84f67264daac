import type { Member } from '@parallax/api-contract';
import type { MemberRow } from './queries.ts';

/** A member as they are shown, with the mail address to owners. */
export function memberAnswer(row: MemberRow, forOwner: boolean): Member {
  return {
    id: row.id,
    user: row.user_id === null ? null : { id: row.user_id, display_name: row.display_name },
    email: forOwner ? row.email : null,
    role: row.role,
    status: row.status,
    created_at: new Date(row.created_at).toISOString(),
    expires_at: row.expires_at === null ? null : new Date(row.expires_at).toISOString(),
  };
}
