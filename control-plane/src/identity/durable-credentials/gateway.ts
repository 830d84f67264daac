import { invalidInput, Problem } from '@parallax/api-contract';
import type { DurableCredential, NewCredential, TokenScope } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { randomKeyHash } from '../../platform/crypto/random-key.ts';
import { inScope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { RequestFacts } from '../../platform/http/handler.ts';
import { requireRecentProof, tellOwner } from '../accounts/index.ts';
import { recordAudit } from '../audit/index.ts';
import { accountChangedLetter } from '../mails/index.ts';
import type { CredentialKind } from './kind.ts';
import { countCredentials, insertCredential, listCredentials, lockCredentials, revokeCredential } from './queries.ts';
import type { CredentialRow } from './queries.ts';

/** How many of each kind a user may have. */
const most = 100;

/** A credential with what it may be used for; API keys are not limited so. */
type ScopedCredential = DurableCredential & { readonly scopes: TokenScope[] | null };

/** What the three routes of API keys and those of personal access tokens do. */
export type DurableCredentials = {
  /** A page of the caller's, newest first. */
  readonly list: (input: {
    readonly caller: Caller;
    readonly query: { readonly page: number; readonly page_size: number };
  }) => Promise<{
    readonly credentials: ScopedCredential[];
    readonly page: { readonly total: number; readonly page: number; readonly page_size: number };
  }>;
  /** Makes one. @returns also the secret itself, which is kept nowhere. */
  readonly create: (input: {
    readonly caller: Caller;
    readonly body: NewCredential & { readonly scopes?: readonly string[] | null };
    readonly request: RequestFacts;
  }) => Promise<{ readonly credential: ScopedCredential; readonly secret: string }>;
  /** Revokes one of the caller's. */
  readonly revoke: (input: {
    readonly caller: Caller;
    readonly params: { readonly id: number };
    readonly request: RequestFacts;
  }) => Promise<void>;
};

/** The credentials of one kind; each function throws `Problem` for what a caller may not have. */
export function durableCredentials(context: Context, kind: CredentialKind): DurableCredentials {
  const pool = context.database.api;
  return {
    list: async ({ caller, query: { page, page_size } }) => {
      const scope = scopeOf(caller);
      const { rows, total } = await inScope(pool, scope, async (transaction) =>
        listCredentials(scope, transaction, kind, { limit: page_size, offset: (page - 1) * page_size }),
      );
      return { credentials: rows.map(answerOf), page: { total, page, page_size } };
    },
    create: async ({ caller, body, request }) => {
      await requireRecentProof(context, { caller, request }, body.password);
      for (const workspaceId of body.workspace_ids ?? []) requireRole(caller, workspaceId, 'viewer');
      const expiresAt = body.expires_at === null ? null : new Date(body.expires_at);
      if (expiresAt !== null && expiresAt.getTime() <= context.now()) {
        throw invalidInput('body', '/expires_at', 'in_the_past', 'must lie in the future');
      }
      const secret = kind.form.make();
      const scope = scopeOf(caller);
      const row = await inScope(pool, scope, async (transaction) => {
        await lockCredentials(scope, transaction, kind);
        if ((await countCredentials(scope, transaction, kind)) >= most) {
          throw new Problem('conflict', `a user may have ${most} ${kind.noun}s: revoke one first`);
        }
        const made = await insertCredential(scope, transaction, kind, {
          name: body.name,
          prefix: kind.form.start(secret),
          hash: randomKeyHash(secret),
          readOnly: body.read_only,
          expiresAt,
          workspaceIds: body.workspace_ids === null ? null : [...new Set(body.workspace_ids)],
          scopes: body.scopes == null ? null : [...new Set(body.scopes)],
        });
        const detail = { name: made.name, prefix: made.prefix, read_only: made.read_only };
        const event = { action: `${kind.subject}.created`, subjectType: kind.subject, subjectId: made.id, detail };
        await recordAudit(transaction, caller, request, event);
        const change = { kind: kind.subject, name: made.name };
        await tellOwner(context, scope, transaction, (locale) =>
          accountChangedLetter(locale, change, request.remoteAddress),
        );
        return made;
      });
      return { credential: answerOf(row), secret };
    },
    revoke: async ({ caller, params: { id }, request }) => {
      const scope = scopeOf(caller);
      const revoked = await inScope(pool, scope, async (transaction) => {
        const found = await revokeCredential(scope, transaction, kind, id);
        const event = { action: `${kind.subject}.revoked`, subjectType: kind.subject, subjectId: id };
        if (found) await recordAudit(transaction, caller, request, event);
        return found;
      });
      if (!revoked) throw new Problem('not_found', `there is no ${kind.noun} ${id}`);
    },
  };
}

function answerOf(row: CredentialRow): ScopedCredential {
  return {
    ...row,
    // Only such are stored as the contract lets in.
    scopes: row.scopes as TokenScope[] | null,
    expires_at: isoTime(row.expires_at),
    last_used_at: isoTime(row.last_used_at),
    created_at: new Date(row.created_at).toISOString(),
  };
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
