import { Problem } from '@parallax/api-contract';

/**
 * Why an account cannot be deleted: others would lose their workspaces with it. Undefined when it can.
 * @param owned the own workspaces, with how many others are members of each
 */
export function refusedForOthers(
  owned: readonly { readonly id: number; readonly name: string; readonly others: number }[],
): Problem | undefined {
  const shared = owned.filter(({ others }) => others > 0);
  if (shared.length === 0) return undefined;
  return new Problem(
    'owns_shared_workspaces',
    'others are members of workspaces that you own: transfer these workspaces, or remove the members, first',
    {
      errors: shared.map(({ id, name, others }) => ({
        in: 'path',
        path: `/workspaces/${id}`,
        code: 'shared_workspace',
        message: `${name}: ${others} other ${others === 1 ? 'member' : 'members'}`,
      })),
    },
  );
}
