import { alertsPageRoute, incidentPageRoute, monitorPageRoute, probePageRoute } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { handle } from '../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../platform/http/handler.ts';
import { pageLocale } from '../../platform/http/page.ts';
import type { Page } from '../../platform/http/page.ts';
import { connectedPage } from './connected-page.ts';
import { thingPage } from './thing-page.ts';

/** `/alerts`, `/incidents/{id}`, `/monitors/{id}` and `/probes/{id}`. */
export function consolePageRoutes({ publicUrl }: Pick<Context, 'publicUrl'>): readonly Route[] {
  const of = (thing: Parameters<typeof thingPage>[0], id: number, request: RequestFacts): string =>
    answer(request, thingPage(thing, id, publicUrl, pageLocale(request.header('accept-language'))));
  return [
    handle(alertsPageRoute, async ({ request }) => answer(request, connectedPage)),
    handle(incidentPageRoute, async ({ params, request }) => of('incident', params.id, request)),
    handle(monitorPageRoute, async ({ params, request }) => of('monitor', params.id, request)),
    handle(probePageRoute, async ({ params, request }) => of('probe', params.id, request)),
  ];
}

function answer({ reply }: RequestFacts, page: Page): string {
  void reply.header('content-security-policy', page.policy);
  return page.html;
}
