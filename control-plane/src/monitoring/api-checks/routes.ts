import {
  createApiCheckRoute,
  deleteApiCheckRoute,
  listApiCheckResultsRoute,
  listApiChecksRoute,
  monitorSchema,
  readApiCheckRoute,
  runApiCheckRoute,
  testApiCheckRoute,
  updateApiCheckRoute,
  warningsOf,
} from '@parallax/api-contract';
import type { ApiCheck, ApiCheckResult, Monitor, UpdateApiCheck } from '@parallax/api-contract';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../platform/http/caller.ts';
import { etagOf } from '../../platform/http/etag.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { monitorsPage, openSecrets, readMonitorJson } from '../monitors/index.ts';
import type { MonitorActions, OpenMonitor, ResultsAnswer } from '../monitors/index.ts';
import { apiChecks, inFlatBody } from './problems.ts';
import { lastFailures, sealedSecretsOf } from './queries.ts';
import { secretNames, withSecretsByName } from './secrets.ts';
import { apiCheckOf, monitorChangeOf, newMonitorOf, settingsIn } from './shape.ts';
import { detailsOf, failedStepIn, ranAnswer, stepResults } from './steps.ts';

/** API checks: monitors of the protocol `api`, under the same identifiers, in a flat shape. */
export function apiCheckRoutes(context: Context, actions: MonitorActions): Route[] {
  return [
    handle(createApiCheckRoute, async ({ body, caller, request }) => {
      const created = await flatly(() => actions.create({ caller, request }, newMonitorOf(body)));
      const check = await asApiCheck(context, scopeOf(caller), created);
      request.reply.header('etag', etagOf(check.version)).header('location', `/api/v1/api-checks/${check.id}`);
      return check;
    }),

    handle(listApiChecksRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const { tag, ...filter } = query;
      const tags = (tag === undefined ? [] : [tag].flat()).map((each) => each.normalize('NFC'));
      const { checks, total } = await inScope(context.database.api, scope, async (tx) => {
        const page = await monitorsPage(tx, scope, { ...filter, tags, protocol: apiChecks.protocol });
        const monitors = z.array(monitorSchema).parse(JSON.parse(page.monitorsJson));
        return { checks: await present(context, scope, tx, monitors), total: page.total };
      });
      return { api_checks: [...checks], total, page: query.page, page_size: query.page_size };
    }),

    handle(readApiCheckRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      const check = await inScope(context.database.api, scope, async (tx) => {
        const monitor = await readMonitorJson(tx, scope, params.id);
        return monitor?.protocol === apiChecks.protocol ? (await present(context, scope, tx, [monitor]))[0] : undefined;
      });
      if (check === undefined) throw apiChecks.notFound(params.id);
      request.reply.header('etag', etagOf(check.version));
      return check;
    }),

    handle(updateApiCheckRoute, async ({ params, body, caller, request }) => {
      const change = { body: monitorChangeOf(body), complete: completed(body), view: apiChecks };
      const changed = await flatly(() => actions.change({ caller, request }, params.id, change));
      const check = await asApiCheck(context, scopeOf(caller), changed);
      request.reply.header('etag', etagOf(check.version));
      // The secrets of an API check stand at the top of its body.
      return { ...check, ...warningsOf((changed.warnings ?? []).map(({ path }) => path.replace(/^\/settings/, ''))) };
    }),

    handle(deleteApiCheckRoute, ({ params, caller, request }) =>
      actions.remove({ caller, request }, params.id, apiChecks),
    ),

    handle(runApiCheckRoute, async ({ params, caller, request }) => {
      const { answer, monitor } = await actions.check({ caller, request }, params.id, apiChecks);
      const steps = monitor.settings['steps'] as ApiCheck['steps'];
      return { api_check_id: params.id, is_manual: true as const, ...ranAnswer(answer, steps) };
    }),

    handle(testApiCheckRoute, async ({ body: { api_check_id: id, ...body }, caller, request }) => {
      const answer = await flatly(() => {
        const whole = { ...newMonitorOf(body), ...(id === undefined ? {} : { monitor_id: id }) };
        const { settings: _settings, ...fields } = whole;
        const complete = (edited: OpenMonitor) => ({
          ...fields,
          settings: withSecretsByName(edited, { url: whole.url, settings: settingsIn(body), base: {} }),
        });
        return actions.test({ caller, request }, { body: whole, complete, view: apiChecks });
      });
      return ranAnswer(answer, body.steps);
    }),

    handle(listApiCheckResultsRoute, async ({ params, query, caller }) => {
      const answer = await actions.results(caller, params.id, query, apiChecks);
      return { ...answer, results: await withSteps(context, scopeOf(caller), params.id, answer.results) };
    }),
  ];
}

/** Tells what is refused by the places of the flat body. */
async function flatly<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    throw inFlatBody(error);
  }
}

/** A change with its secrets as they will be, made from the locked monitor. */
function completed(body: UpdateApiCheck) {
  return ({ stored, secrets }: OpenMonitor) => {
    const sent = { url: body.url ?? stored.url, settings: settingsIn(body), base: stored.settings };
    return { ...monitorChangeOf(body), settings: withSecretsByName({ stored, secrets }, sent) };
  };
}

async function asApiCheck(context: Context, scope: Scope, monitor: Monitor): Promise<ApiCheck> {
  const [check] = await inScope(context.database.api, scope, (tx) => present(context, scope, tx, [monitor]));
  if (check === undefined) throw new Error(`monitor ${monitor.id} was not presented`);
  return check;
}

/** Monitors of the protocol `api` as they are answered here. */
async function present(
  context: Context,
  scope: Scope,
  tx: Transaction,
  monitors: readonly Monitor[],
): Promise<readonly ApiCheck[]> {
  const ids = monitors.map(({ id }) => id);
  const sealed = await sealedSecretsOf(scope, tx, ids);
  return monitors.map((monitor) => {
    const secrets = openSecrets(context.sealer, { id: monitor.id, sealed_secrets: sealed.get(monitor.id) ?? null });
    return apiCheckOf(monitor, secretNames(secrets));
  });
}

/** Results with what is known of their steps. Of a failure like the one before only that one tells which step it was. */
async function withSteps(
  context: Context,
  scope: Scope,
  monitorId: number,
  results: ResultsAnswer['results'],
): Promise<ApiCheckResult[]> {
  const bare = results.flatMap((result, at) => {
    const isFailing = result.outcome === 'fail' || result.outcome === 'timeout';
    const isKept = stepResults(detailsOf(result.evidence)).length > 0;
    return isFailing && !isKept ? [{ at, createdAt: result.created_at, probeId: result.probe_id ?? 0 }] : [];
  });
  const before = await inScope(context.database.api, scope, (tx) => lastFailures(scope, tx, monitorId, bare));
  return results.map((result, at) => {
    const details = detailsOf(result.evidence);
    const steps = stepResults(details);
    return {
      ...result,
      failed_step: failedStepIn(before.get(at) ?? details),
      steps: steps.length === 0 ? null : [...steps],
    };
  });
}
