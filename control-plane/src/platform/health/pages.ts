import { livenessRoute, readinessRoute } from '@parallax/api-contract';
import type { Page, PageAnswer } from '@parallax/telemetry';
import { liveness, readiness } from './routes.ts';
import type { HealthContext } from './routes.ts';

/** What this process stands on once it serves; before and after that the reason why it is not ready. */
export type ServingState = Pick<HealthContext, 'database'> | 'it is starting' | 'it is stopping';

/**
 * The answers of `/health/liveness` and `/health/readiness` for a listener beside the API: a process without the role `api` has no
 * other. Those who ask at the same time share one look, since nothing limits them.
 */
export function healthPages(state: () => ServingState): ReadonlyMap<string, Page> {
  let looking: Promise<PageAnswer> | undefined;
  const look = async (): Promise<PageAnswer> => {
    const present = state();
    if (typeof present === 'string') return answer({ status: 'failing', detail: present });
    return answer(await readiness(present));
  };
  return new Map<string, Page>([
    [livenessRoute.path, async () => answer(liveness())],
    [
      readinessRoute.path,
      async () => {
        looking ??= look().finally(() => {
          looking = undefined;
        });
        return looking;
      },
    ],
  ]);
}

function answer(body: { readonly status: 'ok' | 'failing' } & Readonly<Record<string, unknown>>): PageAnswer {
  return {
    status: body.status === 'ok' ? 200 : 503,
    contentType: 'application/json; charset=utf-8',
    body: JSON.stringify(body),
  };
}
