import { incidentSeverities, incidentUpdateKinds } from '@parallax/api-contract';
import type { CreateIncidentTemplate, IncidentTemplate } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { byName, contains } from '../../../platform/database/text-search.ts';

const templateRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  name: z.string(),
  title: z.string(),
  severity: z.enum(incidentSeverities),
  public_title: z.string().nullable(),
  update_kind: z.enum(incidentUpdateKinds).nullable(),
  update_body: z.string().nullable(),
  version: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
});
type TemplateRow = z.output<typeof templateRow>;

const columns = sql.fragment`t.id, t.workspace_id, t.name, t.title, t.severity, t.public_title, t.update_kind, t.update_body, t.version,
  t.created_at, t.updated_at`;

const ofScope = (scope: Scope) => sql.fragment`t.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')})`;

function templateOf({ update_kind: kind, update_body: body, ...row }: TemplateRow): IncidentTemplate {
  return {
    ...row,
    update: kind === null || body === null ? null : { kind, body },
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  };
}

/** A template of the scope, or null. */
export async function findTemplate(
  scope: Scope,
  connection: CommonQueryMethods,
  id: number,
): Promise<IncidentTemplate | null> {
  const row = await connection.maybeOne(sql.type(templateRow)`
    select ${columns} from incident_templates t where t.id = ${id} and ${ofScope(scope)}`);
  return row === null ? null : templateOf(row);
}

/** A template of the scope, locked until the transaction ends. */
export async function lockTemplate(scope: Scope, tx: Transaction, id: number): Promise<IncidentTemplate | null> {
  await tx.query(sql.unsafe`
    select from incident_templates t where t.id = ${id} and ${ofScope(scope)} for no key update`);
  // In a statement of its own, which sees what the one waited for has done.
  return findTemplate(scope, tx, id);
}

export type TemplateFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly workspace_id?: number | undefined;
  readonly search?: string | undefined;
};

/** One page of the templates of the scope by name, and how many match. */
export async function listTemplates(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: TemplateFilter,
): Promise<{ readonly templates: IncidentTemplate[]; readonly total: number }> {
  const { workspace_id: workspaceId = null } = filter;
  const matching = sql.fragment`from incident_templates t where ${ofScope(scope)}
    and (${workspaceId}::integer is null or t.workspace_id = ${workspaceId})
    and ${contains(filter.search, sql.fragment`t.name`, sql.fragment`t.title`)}`;
  const total = await connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`,
  );
  const rows = await connection.any(sql.type(templateRow)`
    select ${columns} ${matching} order by ${byName(sql.fragment`t.name`)}, t.id
    limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size}`);
  return { templates: rows.map(templateOf), total };
}

/** How many templates a workspace of the scope has; until the transaction ends nobody else makes one there. */
export async function lockTemplateCount(scope: Scope, tx: Transaction, workspaceId: number): Promise<number> {
  await tx.query(sql.unsafe`
    select pg_advisory_xact_lock(hashtextextended('incident templates of ' || ${workspaceId}::integer, 0))`);
  return tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from incident_templates t where t.workspace_id = ${workspaceId} and ${ofScope(scope)}`);
}

/** What a template says. */
export type TemplateValues = Pick<IncidentTemplate, 'name' | 'title' | 'severity' | 'public_title' | 'update'>;

/** @returns the number of the new template */
export async function insertTemplate(
  tx: Transaction,
  { workspace_id: workspaceId, name, title, severity, public_title: publicTitle, update }: CreateIncidentTemplate,
): Promise<number> {
  return tx.oneFirst(sql.typeAlias('id')`
    insert into incident_templates (workspace_id, name, title, severity, public_title, update_kind, update_body)
    values (${workspaceId}, ${name}, ${title}, ${severity}, ${publicTitle ?? null}, ${update?.kind ?? null}, ${update?.body ?? null})
    returning id`);
}

/** Writes values as the next version of a template that the caller has locked. */
export async function writeTemplate(tx: Transaction, id: number, values: TemplateValues): Promise<void> {
  await tx.query(sql.unsafe`
    update incident_templates set name = ${values.name}, title = ${values.title}, severity = ${values.severity},
      public_title = ${values.public_title}, update_kind = ${values.update?.kind ?? null}, update_body = ${values.update?.body ?? null},
      version = version + 1, updated_at = clock_timestamp()
    where id = ${id}`);
}

export async function removeTemplate(tx: Transaction, id: number): Promise<void> {
  await tx.query(sql.unsafe`delete from incident_templates where id = ${id}`);
}
