import { z } from 'zod';
import { lazily } from '../lazily.ts';
import { addressFields, clientPairProblem, trustFields } from '../net/connection-settings.ts';

/** States of a container, as the Engine API names them. */
export const containerStates = ['created', 'running', 'paused', 'restarting', 'removing', 'exited', 'dead'] as const;

/** Settings of `docker`. */
export const dockerSettings = lazily(() =>
  z
    .strictObject({
      /** Name or identifier of the container; needed. */
      container: z
        .string()
        .max(255)
        // The daemon's own rule for names, which identifiers fulfil as well: nothing in it means anything in a path.
        .regex(
          /^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/,
          'A container is named with letters, digits, _, . and -, at least two of them.',
        )
        .optional(),
      /** The state that it has to be in. */
      expected_state: z.enum(containerStates).default('running'),
      /** What its own health check has to say; `not_unhealthy` takes a container that has none or is still starting. */
      expected_health: z.enum(['any', 'not_unhealthy', 'healthy']).default('not_unhealthy'),
      /** Seconds that it must have run since it was last started. */
      min_uptime_seconds: z.int().min(1).max(31_536_000).optional(),
      /** Restarts by its restart policy that are taken, since it was created. */
      max_restarts: z.int().min(0).max(1_000_000).optional(),
      /** Version of the Engine API to ask for, such as 1.44; absent: the newest that the daemon has. */
      api_version: z
        .string()
        .regex(/^1\.\d{1,3}$/, 'A version of the Engine API such as 1.44.')
        .optional(),
      ...trustFields(),
      /** Only addresses of this family, for a daemon that is reached over the network. */
      ip_version: addressFields().ip_version,
    })
    .superRefine((all, context) => {
      const problem = clientPairProblem(all);
      if (problem !== undefined) context.addIssue({ code: 'custom', path: ['client_key'], message: problem });
    }),
);
export type DockerSettings = z.infer<ReturnType<typeof dockerSettings>>;
