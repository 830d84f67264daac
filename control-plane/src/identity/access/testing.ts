import { route } from '@parallax/api-contract';
import type { Credentials } from '@parallax/api-contract';
import { z } from 'zod';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';

const answer = z.object({
  kind: z.string().nullable(),
  user_id: z.number().nullable(),
  is_administrator: z.boolean(),
  roles: z.record(z.string(), z.string()),
});

/** For tests: routes `/who/<credentials>` that tell who called, one for each kind of credentials and for reading and writing. */
export function whoRoutes(): readonly Route[] {
  const kinds: Credentials[] = ['none', 'bearer', 'key-or-bearer', 'bearer-or-none'];
  return kinds.flatMap((credentials) =>
    (['GET', 'POST'] as const).map((method) =>
      handle(
        route({
          method,
          path: `/who/${credentials}`,
          credentials,
          tag: 'test',
          summary: 'test',
          success: { status: 200, answer },
        }),
        async ({ caller }) => ({
          kind: caller?.kind ?? null,
          user_id: caller?.userId ?? null,
          is_administrator: caller?.isAdministrator === true,
          roles: Object.fromEntries([...(caller?.workspaces ?? [])].map(([id, role]) => [String(id), role])),
        }),
      ),
    ),
  );
}
