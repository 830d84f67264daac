import type { listFactorsRoute, AnswerOf } from '@parallax/api-contract';
import type { PasskeyRow } from './queries.ts';

/** A passkey as answers show it. */
export function passkeyAnswer(row: PasskeyRow): AnswerOf<typeof listFactorsRoute>['passkeys'][number] {
  return {
    id: row.id,
    name: row.name,
    backed_up: row.backed_up,
    created_at: new Date(row.created_at).toISOString(),
    last_used_at: row.last_used_at === null ? null : new Date(row.last_used_at).toISOString(),
  };
}
