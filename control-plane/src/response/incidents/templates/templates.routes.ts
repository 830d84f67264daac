import { isDeepStrictEqual } from 'node:util';
import {
  createIncidentTemplateRoute,
  deleteIncidentTemplateRoute,
  listIncidentTemplatesRoute,
  mostIncidentTemplates,
  Problem,
  readIncidentTemplateRoute,
  updateIncidentTemplateRoute,
} from '@parallax/api-contract';
import type { IncidentTemplate, UpdateIncidentTemplate } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { recordAudit } from '../../../identity/audit/index.ts';
import type { AuditEvent } from '../../../identity/audit/index.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { requireMatch } from '../../../platform/http/etag.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import {
  findTemplate,
  insertTemplate,
  listTemplates,
  lockTemplate,
  lockTemplateCount,
  removeTemplate,
  writeTemplate,
} from './templates.queries.ts';
import type { TemplateValues } from './templates.queries.ts';

/** Creating, reading, changing and deleting templates of incidents. */
export function incidentTemplateRoutes(context: Context): readonly Route[] {
  const { api } = context.database;
  return [
    handle(listIncidentTemplatesRoute, async ({ query, caller }) => {
      if (query.workspace_id !== undefined) requireRole(caller, query.workspace_id, 'viewer');
      const scope = scopeOf(caller);
      const { templates, total } = await inScope(api, scope, (tx) => listTemplates(scope, tx, query));
      return { incident_templates: templates, total, page: query.page, page_size: query.page_size };
    }),

    handle(createIncidentTemplateRoute, async ({ body, caller, request }) => {
      requireRole(caller, body.workspace_id, 'editor');
      const scope = scopeOf(caller);
      return inScope(api, scope, async (tx) => {
        if ((await lockTemplateCount(scope, tx, body.workspace_id)) >= mostIncidentTemplates) throw tooMany();
        const id = await insertTemplate(tx, body);
        const made = present(await findTemplate(scope, tx, id), id);
        await record(tx, { caller, request }, made, {
          action: 'incident_template.created',
          detail: { name: body.name },
        });
        return made;
      });
    }),

    handle(readIncidentTemplateRoute, async ({ params, caller }) => {
      const scope = scopeOf(caller);
      return present(await inScope(api, scope, (tx) => findTemplate(scope, tx, params.id)), params.id);
    }),

    handle(updateIncidentTemplateRoute, async ({ params, body, caller, request }) =>
      change(context, { caller, request }, params.id, async (tx, template) => {
        const values = changedTemplate(template, body);
        const fields = differing(template, values);
        if (fields.length === 0) return null;
        await writeTemplate(tx, template.id, values);
        return { action: 'incident_template.updated', detail: { fields } };
      }),
    ),

    handle(deleteIncidentTemplateRoute, async ({ params, caller, request }) => {
      await change(context, { caller, request }, params.id, async (tx, template) => {
        await removeTemplate(tx, template.id);
        return { action: 'incident_template.deleted', detail: { name: template.name } };
      });
    }),
  ];
}

type Actor = { readonly caller: Caller; readonly request: RequestFacts };
type Done = Pick<AuditEvent, 'action' | 'detail'>;

function tooMany(): Problem {
  const detail = `the workspace has ${mostIncidentTemplates} templates of incidents; delete one first`;
  return new Problem('too_many_incident_templates', detail);
}

function present(template: IncidentTemplate | null, id: number): IncidentTemplate {
  if (template === null) throw new Problem('not_found', `there is no template of incidents ${id}`);
  return template;
}

/**
 * Changes a template in one transaction: locked, by an editor of its workspace, in the version that `If-Match` names, and recorded.
 * @param work writes; null when there was nothing to change
 * @returns the template as it is afterwards, or as it was where it is gone
 * @throws Problem `not_found`, `forbidden`, `version_mismatch`
 */
async function change(
  context: Context,
  actor: Actor,
  id: number,
  work: (tx: Transaction, template: IncidentTemplate) => Promise<Done | null>,
): Promise<IncidentTemplate> {
  const scope = scopeOf(actor.caller);
  return inScope(context.database.api, scope, async (tx) => {
    const template = present(await lockTemplate(scope, tx, id), id);
    requireRole(actor.caller, template.workspace_id, 'editor');
    requireMatch(actor.request.header('if-match'), template.version);
    const done = await work(tx, template);
    if (done !== null) await record(tx, actor, template, done);
    return (await findTemplate(scope, tx, id)) ?? template;
  });
}

function changedTemplate(before: IncidentTemplate, body: UpdateIncidentTemplate): TemplateValues {
  return {
    name: body.name ?? before.name,
    title: body.title ?? before.title,
    severity: body.severity ?? before.severity,
    public_title: body.public_title === undefined ? before.public_title : body.public_title,
    update: body.update === undefined ? before.update : body.update,
  };
}

function differing(before: IncidentTemplate, values: TemplateValues): string[] {
  const stored = new Map<string, unknown>(Object.entries(before));
  return Object.entries(values).flatMap(([field, value]) =>
    isDeepStrictEqual(value, stored.get(field)) ? [] : [field],
  );
}

function record(tx: Transaction, { caller, request }: Actor, template: IncidentTemplate, done: Done): Promise<void> {
  return recordAudit(tx, caller, request, {
    ...done,
    workspaceId: template.workspace_id,
    subjectType: 'incident_template',
    subjectId: template.id,
  });
}
