import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { fileBytes } from './files.queries.ts';

/** The bytes of a picture of a published page; null: it has it no more. Row-level security lets through the workspace of the page alone. */
export async function readPageFile(
  context: Pick<Context, 'database'>,
  { workspaceId, pageId }: { readonly workspaceId: number; readonly pageId: number },
  hash: string,
): Promise<Buffer | null> {
  const scope: Scope = { userId: null, workspaceIds: [workspaceId] };
  return inScope(context.database.api, scope, (tx) => fileBytes(scope, tx, pageId, hash));
}
