import { createMonitorSchema, Problem } from '@parallax/api-contract';
import type { CreateMonitor, ImportRow } from '@parallax/api-contract';
import { chooseProbes, requiredCapabilities } from '../../../assignments/index.ts';
import { freeName, nameFromTarget, protocolOf } from '../../target.ts';
import type { PlainValues, PlanLimits } from '../../values.ts';
import type { ExportedMonitor } from '../export/csv.ts';
import type { ImportedMonitor, ImportedRow } from '../formats/imported.ts';
import { differences, shownExport, shownValues } from './difference.ts';
import { newMonitorLacking } from './lacking.ts';
import type { Place } from './place.ts';
import { resolveReferences } from './references.ts';
import type { NamedProbe } from './references.ts';

/** A monitor of a target workspace that has one of the URLs of the file. */
export type Existing = ExportedMonitor & { readonly id: number; readonly workspace_id: number };

/** What a workspace rules of its new monitors. */
export type WorkspaceFacts = {
  readonly ownerId: number;
  readonly limits: PlanLimits;
  readonly probes: readonly NamedProbe[];
};

/** Everything that decides what becomes of a file, as it was before the file. */
export type PlanFacts = {
  readonly onDuplicate: 'skip' | 'create';
  readonly workspaces: ReadonlyMap<number, WorkspaceFacts>;
  readonly existing: readonly Existing[];
  /** Names of monitors by owner. */
  readonly taken: ReadonlyMap<number, ReadonlySet<string>>;
};

/** A row with its place. */
export type PlacedRow = { readonly row: ImportedRow; readonly place: Place };

/** A monitor that is to be created. */
export type NewMonitor = {
  readonly workspaceId: number;
  readonly values: PlainValues;
  readonly probeIds: readonly number[];
};

/** What becomes of a row: the report as of a dry run, and what is to be created. */
export type PlannedRow = { readonly report: ImportRow; readonly create?: NewMonitor };

/** Decides what becomes of every row, in the order of the file. */
export function planImport(rows: readonly PlacedRow[], facts: PlanFacts): readonly PlannedRow[] {
  const planner = new Planner(facts);
  return rows.map((row, index) => planner.plan(row, index + 1));
}

class Planner {
  readonly #facts: PlanFacts;
  readonly #existing: ReadonlyMap<string, readonly Existing[]>;
  /** Names of rows before this one, by owner. */
  readonly #used = new Map<number, Set<string>>();
  /** Seats given to rows before this one, by probe, so that a file does not go to one probe as a whole. */
  readonly #seats = new Map<number, number>();

  constructor(facts: PlanFacts) {
    this.#facts = facts;
    this.#existing = Map.groupBy(facts.existing, (each) => targetKey(each.workspace_id, each.protocol, each.url));
  }

  plan({ row, place }: PlacedRow, number: number): PlannedRow {
    const base = { row: number, ...labelOf(row), workspace_id: null, warnings: [] };
    if (row.kind !== 'monitor') return { report: { ...base, status: row.kind, code: row.code, reason: row.reason } };
    const warnings = [...row.warnings];
    if (place.kind === 'nowhere') {
      return { report: { ...base, status: 'failed', code: place.code, reason: place.reason, warnings } };
    }
    const report = { ...base, workspace_id: place.workspaceId, warnings };
    try {
      return this.#judge(row, place.workspaceId, report);
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      return { report: { ...report, status: 'failed', ...faultOf(error) } };
    }
  }

  #judge(row: ImportedMonitor, workspaceId: number, report: Omit<ImportRow, 'status'>): PlannedRow {
    const workspace = this.#facts.workspaces.get(workspaceId);
    if (workspace === undefined) throw new Problem('not_found', `there is no workspace ${workspaceId}`);
    const references = resolveReferences(
      row.probes ?? [],
      textsOf(row.body['regions']),
      workspace.probes,
      report.warnings,
    );
    const body = bodyOf(row, workspaceId, references.probeIds, references.regions);
    const protocol = protocolOf(body.url, body.protocol);
    const judged = { ...report, name: body.name ?? report.name, url: body.url };
    const duplicates = this.#existing.get(targetKey(workspaceId, protocol, body.url)) ?? [];
    const twin = duplicates.find((each) => each.name === body.name) ?? duplicates[0];
    if (twin !== undefined && this.#facts.onDuplicate === 'skip') {
      return { report: skippedDuplicate(judged, row, body, twin, references.probeNames) };
    }
    const taken = this.#facts.taken.get(workspace.ownerId) ?? new Set();
    const used = getOrAdd(this.#used, workspace.ownerId);
    const clash = body.name === undefined ? undefined : clashOf(body.name, taken, used);
    if (clash !== undefined) return { report: { ...judged, status: 'skipped', ...clash } };
    const name = body.name ?? freeName(nameFromTarget(body.url), new Set([...taken, ...used]));
    const values = newMonitorLacking(body, name, workspace.limits, row.lacking);
    const probeIds = this.#choose(values, workspace.probes);
    used.add(name);
    if (row.lacking.length > 0) {
      report.warnings.push(`paused, since these secrets are not in the file: ${row.lacking.join(', ')}`);
    }
    const fields = shownValues(values, references.probeNames, []);
    return {
      report: { ...judged, status: 'created', name, fields },
      create: { workspaceId, values, probeIds },
    };
  }

  /** @throws Problem `no_probe_able` */
  #choose(values: PlainValues, probes: readonly NamedProbe[]): readonly number[] {
    const loaded = probes.map((probe) => ({ ...probe, load: probe.load + (this.#seats.get(probe.id) ?? 0) }));
    const { wanted_probe_ids: wanted, wanted_regions: regions } = values;
    const requires = requiredCapabilities(values.protocol, values.url, values.settings.open);
    const choice = chooseProbes({ probeIds: wanted, regions, requires }, loaded, []);
    if (choice.kind === 'refused') throw new Problem('no_probe_able', choice.detail);
    if (choice.kind === 'central') return [];
    for (const id of choice.probeIds) this.#seats.set(id, (this.#seats.get(id) ?? 0) + 1);
    return choice.probeIds;
  }
}

/** @throws Problem `invalid_input` with the first thing that is wrong */
function bodyOf(
  row: ImportedMonitor,
  workspaceId: number,
  probeIds: readonly number[],
  regions: readonly string[],
): CreateMonitor {
  const parsed = createMonitorSchema.safeParse({
    ...row.body,
    workspace_id: workspaceId,
    probe_ids: probeIds,
    regions,
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join('.') ?? '';
  throw new Problem('invalid_input', `${path}: ${issue?.message ?? 'not valid'}`);
}

/** How the row differs is told even where it could not be created, as after a downgrade of the plan. */
function skippedDuplicate(
  report: Omit<ImportRow, 'status'>,
  row: ImportedMonitor,
  body: CreateMonitor,
  twin: Existing,
  probes: readonly string[],
): ImportRow {
  const skipped: ImportRow = {
    ...report,
    status: 'skipped',
    monitor_id: twin.id,
    code: 'duplicate',
    reason: `monitor ${twin.id} of this workspace has this URL and protocol`,
  };
  try {
    const values = newMonitorLacking(
      body,
      body.name ?? twin.name,
      { plan: '', minimumIntervalSeconds: 0 },
      row.lacking,
    );
    const shown = shownValues({ ...values, is_active: body.is_active }, probes, row.lacking);
    return { ...skipped, differences: [...differences(shownExport(twin), shown)] };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { ...skipped, warnings: [...skipped.warnings, `the row itself is not valid: ${error.message}`] };
  }
}

/** The first thing that is wrong, with the field that it is wrong with. */
function faultOf(problem: Problem): { readonly code: string; readonly reason: string } {
  const [first] = problem.errors ?? [];
  if (first === undefined) return { code: problem.code, reason: problem.message };
  const field = first.path.replace(/^\//, '').replaceAll('/', '.');
  return { code: first.code, reason: field === '' ? first.message : `${field}: ${first.message}` };
}

function clashOf(name: string, taken: ReadonlySet<string>, used: ReadonlySet<string>) {
  if (taken.has(name)) {
    return { code: 'name_taken', reason: `the owner of this workspace already has a monitor named "${name}"` };
  }
  if (!used.has(name)) return undefined;
  return { code: 'name_taken_in_file', reason: `an earlier row of the file is named "${name}"` };
}

function labelOf(row: ImportedRow): { readonly name: string | null; readonly url: string | null } {
  if (row.kind !== 'monitor') return { name: row.name ?? null, url: row.url ?? null };
  const name = row.body['name'];
  return { name: typeof name === 'string' ? name : null, url: row.body.url };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function targetKey(workspaceId: number, protocol: string, url: string): string {
  return `${workspaceId} ${protocol} ${url}`;
}

function getOrAdd(sets: Map<number, Set<string>>, key: number): Set<string> {
  const known = sets.get(key);
  if (known !== undefined) return known;
  const made = new Set<string>();
  sets.set(key, made);
  return made;
}
