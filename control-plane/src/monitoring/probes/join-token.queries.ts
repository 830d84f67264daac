// Not the whole contract: the supervisor, which makes tokens too, keeps in memory what it loads.
import { Problem } from '@parallax/api-contract/problems';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { formatJoinToken, joinTokenDefaultMinutes, joinTokenMaxMinutes, makeJoinSecret } from './join-token.ts';

export type JoinTokenOptions = {
  readonly name: string;
  readonly region: string;
  /** null: a public probe. */
  readonly workspaceId: number | null;
  /** Life in minutes, at most a day; 10 when absent. */
  readonly minutes?: number | undefined;
  readonly createdBy: number | null;
  /** Fingerprint of the installation's authority. */
  readonly fingerprint: string;
  readonly random: (bytes: number) => Uint8Array;
};

/** A join token as it is shown once. */
export type CreatedJoinToken = { readonly id: number; readonly token: string; readonly expiresAtMs: number };

/** Makes a one-time token for a probe of this name and region. @throws Problem `name_taken` when a probe has the name */
export async function createJoinToken(tx: CommonQueryMethods, options: JoinTokenOptions): Promise<CreatedJoinToken> {
  const isTaken = await tx.exists(sql.unsafe`
    select 1 from probes where name = ${options.name} and revoked_at is null
      and workspace_id is not distinct from ${options.workspaceId}`);
  if (isTaken)
    throw new Problem('name_taken', `a probe named ${options.name} exists already: revoke it or take another name`);
  const minutes = Math.min(Math.max(1, options.minutes ?? joinTokenDefaultMinutes), joinTokenMaxMinutes);
  const { secret, hash } = makeJoinSecret(options.random);
  const row = await tx.one(sql.type(z.object({ id: z.number(), expires_at: z.number() }))`
    insert into join_tokens (workspace_id, secret_hash, name, region, created_by, expires_at)
    values (${options.workspaceId}, ${sql.binary(hash)}, ${options.name}, ${options.region}, ${options.createdBy},
      now() + ${minutes} * interval '1 minute')
    returning id, expires_at`);
  return { id: row.id, token: formatJoinToken(row.id, secret, options.fingerprint), expiresAtMs: row.expires_at };
}

/** What an operator pastes on the machine of the probe. Names and regions have no characters that a shell would read. */
export function joinCommand(enrolmentAddress: string, token: string): string {
  return `probe-agent register --control-plane ${enrolmentAddress} --join-token ${token}`;
}
