import { apiSettings, commonShape, nameShape, proxyShape } from '@parallax/checks';
import { z } from 'zod';
import { createMonitorSchema, measuredOfMonitors, monitorSchema, updateMonitorSchema } from './monitor-shapes.ts';
import { monitorListQuery, resultListQuery } from './monitors.ts';
import { checkResultSchema, manualCheckSchema, monitorTestSchema } from './result-shapes.ts';
import { route } from './route.ts';
import { bodyId, idSchema, listOf } from './shared.ts';
import { warningsSchema } from './warnings.ts';

/*
 * Checks of several HTTP requests in a row. Each is a monitor of the protocol `api` under the same identifier: what is below `settings` of the
 * monitor is flat here. The check type's own schema rules the settings; what is loose here is judged by it.
 */

const settings = apiSettings().shape;
const stepShape = settings.steps.unwrap().element.shape;
const common = commonShape();
const naming = nameShape();
const proxying = proxyShape();
const looseTree = z
  .record(z.string().max(100), z.unknown())
  .describe('A tree of assertions: `all`, `any`, or one of `subject`, `comparison` and `value`.');

const stepSchema = z
  .strictObject({
    ...stepShape,
    // Both are trees, which their own schema judges.
    json: z.unknown().optional().describe('JSON whose texts may have templates.'),
    assertions: looseTree.optional(),
  })
  .meta({
    id: 'ApiStep',
    description: 'One request. `{{name}}` stands for a variable, a secret, or a value that an earlier step extracted.',
  });

const stepsSchema = z.array(stepSchema).min(1).max(20);
const variablesSchema = settings.variables.unwrap();
const secretsSchema = settings.secrets.unwrap();
const changedSecretsSchema = z
  .record(secretsSchema.keyType, secretsSchema.valueType.nullable())
  .describe(
    'By name: one that is absent is kept, one that is `null` is removed. All kept ones are dropped when a step would send one to another origin.',
  );
const urlSchema = updateMonitorSchema.shape.url.unwrap().describe('What paths of steps belong to.');

const plainSettings = {
  variables: variablesSchema.nullish(),
  ca_certificates: settings.ca_certificates.nullish(),
  assertions: looseTree.nullish().describe('Of the whole run, such as its `response_time`.'),
  inverted: common.inverted.nullish(),
  all_addresses: common.all_addresses.nullish(),
  bad_address_severity: common.bad_address_severity.nullish(),
  resolver: naming.resolver.nullish(),
  proxy: proxying.proxy.nullish(),
  proxy_password: proxying.proxy_password
    .nullish()
    .describe('Never answered; `has_proxy_password` tells whether there is one.'),
  proxy_ca_certificates: proxying.proxy_ca_certificates.nullish(),
};

/** Fields of a monitor that an API check has too. */
const asOfMonitors = {
  name: true,
  description: true,
  interval_seconds: true,
  timeout_seconds: true,
  confirmations: true,
  consensus_policy: true,
  degraded_threshold_ms: true,
  tags: true,
  probe_ids: true,
  regions: true,
  certificate_thresholds_days: true,
  is_active: true,
} as const;

/** Body of POST /api-checks. */
export const createApiCheckSchema = createMonitorSchema
  .pick({ workspace_id: true, ...asOfMonitors })
  .extend({
    url: urlSchema
      .optional()
      .describe('What paths of steps belong to; left out: the origin of the first step that names one.'),
    steps: stepsSchema,
    secrets: secretsSchema.nullish().describe('Never answered; `secret_names` tells which there are.'),
    ...plainSettings,
  })
  .meta({ id: 'CreateApiCheck' });
export type CreateApiCheck = z.output<typeof createApiCheckSchema>;

/** Body of PATCH /api-checks/{id}: an absent key keeps, `null` goes back to the default. */
export const updateApiCheckSchema = updateMonitorSchema
  .pick(asOfMonitors)
  .extend({
    url: urlSchema.optional(),
    steps: stepsSchema.optional().describe('All of them.'),
    secrets: changedSecretsSchema.nullish(),
    ...plainSettings,
  })
  .meta({ id: 'UpdateApiCheck' });
export type UpdateApiCheck = z.output<typeof updateApiCheckSchema>;

/** Body of POST /api-checks/test. */
export const testApiCheckSchema = createApiCheckSchema
  .extend({
    workspace_id: bodyId
      .optional()
      .describe('Left out: that of `api_check_id`, else the first of the workspaces in which the caller may edit.'),
    api_check_id: bodyId.optional().describe('A stored one that this is an edition of, whose secrets are taken.'),
    secrets: changedSecretsSchema.nullish(),
    probe_ids: createMonitorSchema.shape.probe_ids.unwrap().unwrap().max(5).nullish(),
  })
  .meta({ id: 'TestApiCheck' });
export type TestApiCheck = z.output<typeof testApiCheckSchema>;

/** An API check as every route answers it. */
export const apiCheckSchema = monitorSchema
  .omit({ protocol: true, settings: true, dnsbl_servers: true, domain_thresholds_days: true, domain_expires_at: true })
  .extend({
    steps: stepsSchema,
    variables: variablesSchema,
    secret_names: z.array(z.string()).describe('Names of the secrets, in their order.'),
    ca_certificates: z.string().nullable(),
    assertions: looseTree.nullable(),
    inverted: z.boolean().nullable(),
    all_addresses: z.boolean().nullable(),
    bad_address_severity: common.bad_address_severity.unwrap().nullable(),
    resolver: naming.resolver.unwrap().nullable(),
    proxy: z.string().nullable().describe('Without its password.'),
    has_proxy_password: z.boolean(),
    proxy_ca_certificates: z.string().nullable(),
  })
  .meta({ id: 'ApiCheck' });
export type ApiCheck = z.output<typeof apiCheckSchema>;

const failedStepSchema = z
  .object({ number: z.number().int().describe('From 1.'), name: z.string() })
  .meta({ id: 'FailedApiStep' });

const stepResultFields = {
  number: z.number().int().describe('From 1.'),
  name: z.string(),
  result: z.enum(['ok', 'warn', 'slow', 'failed', 'skipped']),
  status_code: z.number().int().nullable(),
  response_time_ms: z.number().nullable(),
  error_code: z.string().nullable(),
  message: z.string().nullable(),
};
const stepResultSchema = z.object(stepResultFields).meta({ id: 'ApiStepResult' });
export type ApiStepResult = z.output<typeof stepResultSchema>;

const ranStepSchema = z
  .object({
    ...stepResultFields,
    extracted: z
      .array(z.string())
      .nullable()
      .describe('Names of the values that were taken; null when the probe does not tell.'),
    assertions: z
      .array(z.object({ assertion: looseTree, holds: z.boolean().nullable().describe('null: not asked.') }))
      .describe('Each single assertion of the step.'),
  })
  .meta({ id: 'RanApiStep' });
export type RanApiStep = z.output<typeof ranStepSchema>;

const ranFields = {
  failed_step: failedStepSchema.nullable().describe('Of several that failed the gravest, then the first.'),
  steps: z.array(ranStepSchema).describe('In their order; empty when no step was tried.'),
};

/** Answer of POST /api-checks/test. */
export const apiCheckTestSchema = monitorTestSchema
  .extend({ results: z.array(monitorTestSchema.shape.results.element.extend(ranFields)) })
  .meta({ id: 'ApiCheckTest' });
export type ApiCheckTest = z.output<typeof apiCheckTestSchema>;

/** Answer of POST /api-checks/{id}/run. */
export const apiCheckRunSchema = manualCheckSchema
  .omit({ monitor_id: true })
  .extend({ api_check_id: z.number().int(), results: apiCheckTestSchema.shape.results })
  .meta({ id: 'ApiCheckRun' });
export type ApiCheckRun = z.output<typeof apiCheckRunSchema>;

/** One result of an API check. */
export const apiCheckResultSchema = checkResultSchema
  .extend({
    failed_step: failedStepSchema.nullable(),
    steps: z
      .array(stepResultSchema)
      .nullable()
      .describe('Kept with the first failing result, and when the code or the failing step changes; else null.'),
  })
  .meta({ id: 'ApiCheckResult' });
export type ApiCheckResult = z.output<typeof apiCheckResultSchema>;

const params = z.object({ id: idSchema });
const tag = 'API checks';

export const createApiCheckRoute = route({
  method: 'POST',
  path: '/api/v1/api-checks',
  credentials: 'bearer',
  tag,
  summary: 'Create an API check',
  description:
    'It is a monitor of the protocol `api` and can be read, paused and alerted on as one, under the same identifier.',
  body: createApiCheckSchema,
  success: { status: 201, answer: apiCheckSchema },
  idempotent: true,
  errors: [403, 404, 409],
});

export const listApiChecksRoute = route({
  method: 'GET',
  path: '/api/v1/api-checks',
  credentials: 'bearer',
  tag,
  summary: 'List API checks',
  query: z.object(monitorListQuery),
  success: { status: 200, answer: listOf('api_checks', apiCheckSchema).meta({ id: 'ApiCheckList' }) },
  errors: [404],
});

export const readApiCheckRoute = route({
  method: 'GET',
  path: '/api/v1/api-checks/:id',
  credentials: 'bearer',
  tag,
  summary: 'Read an API check',
  params,
  success: { status: 200, answer: apiCheckSchema },
  errors: [404],
});

export const updateApiCheckRoute = route({
  method: 'PATCH',
  path: '/api/v1/api-checks/:id',
  credentials: 'bearer',
  tag,
  summary: 'Change an API check',
  description: 'An absent key keeps, `null` goes back to the default. `If-Match` takes the version.',
  params,
  body: updateApiCheckSchema,
  success: {
    status: 200,
    answer: apiCheckSchema.extend({ warnings: warningsSchema }).meta({ id: 'ChangedApiCheck' }),
  },
  errors: [403, 404, 409, 412],
  measured: [...measuredOfMonitors, 'warnings'],
});

export const deleteApiCheckRoute = route({
  method: 'DELETE',
  path: '/api/v1/api-checks/:id',
  credentials: 'bearer',
  tag,
  summary: 'Delete an API check with its results',
  description: 'As the deletion of a monitor.',
  params,
  success: { status: 204 },
  errors: [403, 404, 412, 504],
});

export const runApiCheckRoute = route({
  method: 'POST',
  path: '/api/v1/api-checks/:id/run',
  credentials: 'bearer',
  tag,
  summary: 'Run an API check now',
  description:
    'Asks every assigned probe and waits. Each step is answered with what it took and found; the results are kept as manual ones and count nowhere.',
  params,
  body: z.strictObject({}).nullish(),
  success: { status: 200, answer: apiCheckRunSchema },
  errors: [403, 404],
});

export const testApiCheckRoute = route({
  method: 'POST',
  path: '/api/v1/api-checks/test',
  credentials: 'bearer',
  tag,
  summary: 'Run an API check that is not stored',
  description: 'The body is judged as for a new one, except that its name may be taken. Nothing is stored.',
  body: testApiCheckSchema,
  success: { status: 200, answer: apiCheckTestSchema },
  errors: [403, 404],
});

export const listApiCheckResultsRoute = route({
  method: 'GET',
  path: '/api/v1/api-checks/:id/results',
  credentials: 'bearer',
  tag,
  summary: 'Results of an API check, newest first, with the step that failed',
  params,
  query: z.object(resultListQuery),
  success: { status: 200, answer: listOf('results', apiCheckResultSchema).meta({ id: 'ApiCheckResultList' }) },
  errors: [404],
});
