import type { Role } from '../../../../platform/http/caller.ts';

/** A workspace that the caller sees. */
export type Workspace = {
  readonly id: number;
  readonly name: string;
  readonly role: Role;
  readonly isDefault: boolean;
};

/** Where a row goes, or why it goes nowhere. */
export type Place =
  | { readonly kind: 'at'; readonly workspaceId: number }
  | { readonly kind: 'nowhere'; readonly code: string; readonly reason: string };

/**
 * The workspace of a row: the one that the request names, else the one that the row names, else the default one. The caller has to be an
 * editor of it.
 * @param wanted by the request, its role shown already
 * @param named by the row
 */
export function placeOf(
  wanted: number | undefined,
  named: string | undefined,
  workspaces: readonly Workspace[],
): Place {
  if (wanted !== undefined) return { kind: 'at', workspaceId: wanted };
  const label = named?.normalize('NFC');
  const found = workspaces.filter((each) => (label === undefined ? each.isDefault : each.name === label));
  const writable = found.filter((each) => each.role !== 'viewer');
  const [first] = writable;
  if (first !== undefined && writable.length === 1) return { kind: 'at', workspaceId: first.id };
  if (first !== undefined) {
    const reason = `several workspaces are named "${label ?? ''}"; give workspace_id`;
    return { kind: 'nowhere', code: 'workspace_ambiguous', reason };
  }
  if (found.length > 0) {
    const reason = `this needs the role editor in the workspace "${found[0]?.name ?? ''}", yours is viewer`;
    return { kind: 'nowhere', code: 'forbidden', reason };
  }
  const reason =
    label === undefined
      ? 'there is no default workspace that this key or account may use; give workspace_id'
      : `there is no workspace named "${label.slice(0, 200)}"`;
  return { kind: 'nowhere', code: 'workspace_unknown', reason };
}
