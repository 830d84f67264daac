import { z } from 'zod';
import { presentPasswordSchema } from './auth.ts';
import { bodyId, instant, nameSchema, timestamp } from './shared.ts';

/** What is told of an API key or a personal access token; never the secret itself. */
export const durableCredentialFields = {
  id: z.number().int(),
  name: z.string(),
  /** The first characters, to recognise it by. */
  prefix: z.string(),
  read_only: z.boolean(),
  expires_at: timestamp.nullable(),
  /** Noted at most once a minute. */
  last_used_at: timestamp.nullable(),
  /** The workspaces it is limited to; null: all of the user. */
  workspace_ids: z.array(z.number().int()).nullable(),
  created_at: timestamp,
};

const durableCredentialSchema = z.object(durableCredentialFields);
export type DurableCredential = z.output<typeof durableCredentialSchema>;

/** What a new one is made of. */
export const newCredentialSchema = z.strictObject({
  name: nameSchema,
  read_only: z.boolean().default(false),
  expires_at: instant.nullable().default(null),
  workspace_ids: z.array(bodyId).min(1).max(1_000).nullable().default(null),
  password: presentPasswordSchema
    .optional()
    .describe('Of the account; needed when the session is older than ten minutes, and not kept.'),
});
export type NewCredential = z.output<typeof newCredentialSchema>;
