import { invalidInput, Problem } from '@parallax/api-contract';
import type { MaintenanceScope, SubjectType } from '@parallax/api-contract';

/** One thing that a window is for. */
export type ScopeItem =
  | { readonly kind: 'subject'; readonly type: SubjectType; readonly id: number; readonly path: string }
  | { readonly kind: 'group'; readonly id: number; readonly path: string }
  | { readonly kind: 'tag'; readonly tag: string };

export type JudgedScope = { readonly isForAll: boolean; readonly items: readonly ScopeItem[] };

/** @throws Problem `invalid_input` for a scope of nothing, or of everything and something */
export function judgeScope(scope: MaintenanceScope): JudgedScope {
  const subjects = (type: SubjectType, ids: readonly number[] | undefined): ScopeItem[] =>
    (ids ?? []).map((id, index) => ({ kind: 'subject', type, id, path: `/scope/${type}_ids/${index}` }));
  const items: ScopeItem[] = [
    ...subjects('monitor', scope.monitor_ids),
    ...subjects('heartbeat', scope.heartbeat_ids),
    ...subjects('webhook_check', scope.webhook_check_ids),
    ...(scope.group_ids ?? []).map(
      (id, index): ScopeItem => ({ kind: 'group', id, path: `/scope/group_ids/${index}` }),
    ),
    ...[...new Set(scope.tags ?? [])].map((tag): ScopeItem => ({ kind: 'tag', tag })),
  ];
  const isForAll = scope.all === true;
  if (isForAll && items.length > 0)
    throw invalidInput('body', '/scope/all', 'conflict', 'all is all: name nothing beside it');
  if (!isForAll && items.length === 0) {
    throw invalidInput('body', '/scope', 'required', 'say what it is for: all, or at least one monitor, group or tag');
  }
  return { isForAll, items };
}

/** @throws Problem `not_found` that names each item by its place that is not there */
export function requireItems(workspaceId: number, missing: readonly ScopeItem[]): void {
  const errors = missing.flatMap((item) =>
    item.kind === 'tag'
      ? []
      : [
          {
            in: 'body' as const,
            path: item.path,
            code: 'not_found',
            message: `there is no ${item.kind === 'group' ? 'monitor group' : item.type.replace('_', ' ')} ${item.id} in workspace ${workspaceId}`,
          },
        ],
  );
  const [first] = errors;
  if (first !== undefined) throw new Problem('not_found', first.message, { errors: errors.slice(0, 100) });
}
