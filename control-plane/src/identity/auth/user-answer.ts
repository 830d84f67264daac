import type { User } from '@parallax/api-contract';
import type { UserRow } from './queries.ts';

/** An account as the API shows it to its user. */
export function userAnswer(row: UserRow): User {
  return { ...row, created_at: isoTime(row.created_at), updated_at: isoTime(row.updated_at) };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
