import { groupProtocol, invalidInput, Problem } from '@parallax/api-contract';
import type { ImportRow } from '@parallax/api-contract';
import { choiceOf, requiredCapabilities } from '../../../assignments/index.ts';
import type { NamedGroupSettings } from '../../../groups/check/index.ts';
import { groupTarget } from '../../kinds.ts';
import { freeName, nameFromTarget, protocolOf } from '../../target.ts';
import type { PlainValues } from '../../values.ts';
import type { ImportedMonitor, ImportedRow } from '../formats/imported.ts';
import { bodyOf, skippedDuplicate } from './body.ts';
import { shownValues } from './difference.ts';
import type { Existing, PlacedRow, PlanFacts, PlannedRow } from './facts.ts';
import { newMonitorLacking } from './lacking.ts';
import { resolveReferences } from './references.ts';
import type { NamedProbe } from './references.ts';
import { normalTarget } from './same-target.ts';
import { nameKey, watchesSame, withMembers } from './watching.ts';

/** Decides what becomes of every row, in the order of the file. */
export function planImport(rows: readonly PlacedRow[], facts: PlanFacts): readonly PlannedRow[] {
  const planner = new Planner(facts);
  return withMembers(
    rows.map((row, index) => planner.plan(row, index + 1)),
    facts,
  );
}

class Planner {
  readonly #facts: PlanFacts;
  readonly #existing: ReadonlyMap<string, readonly Existing[]>;
  /** By workspace. */
  readonly #groupMonitors: ReadonlyMap<number, readonly Existing[]>;
  /** Names of rows before this one, by owner. */
  readonly #used = new Map<number, Set<string>>();
  /** Seats given to rows before this one, by probe, so that a file does not go to one probe as a whole. */
  readonly #seats = new Map<number, number>();

  constructor(facts: PlanFacts) {
    this.#facts = facts;
    this.#existing = Map.groupBy(facts.existing, (each) => targetKey(each.workspace_id, each.protocol, each.url));
    this.#groupMonitors = Map.groupBy(
      facts.existing.filter(({ protocol }) => protocol === groupProtocol),
      (each) => each.workspace_id,
    );
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
    const twin = this.#twinOf(row, body.name, targetKey(workspaceId, protocol, body.url), workspaceId);
    if (twin !== undefined && this.#facts.onDuplicate === 'skip') {
      return { report: skippedDuplicate(judged, row, body, twin, references.probeNames) };
    }
    const taken = this.#facts.taken.get(workspace.ownerId) ?? new Set();
    const used = getOrAdd(this.#used, workspace.ownerId);
    const clash = body.name === undefined ? undefined : clashOf(body.name, taken, used);
    if (clash !== undefined) return { report: { ...judged, status: 'skipped', ...clash } };
    const name = body.name ?? freeName(nameFromTarget(body.url), new Set([...taken, ...used]));
    const values = this.#pointed(
      newMonitorLacking(body, name, workspace.limits, row.lacking),
      workspaceId,
      row.watches,
    );
    const probeIds = this.#choose(values, workspace.probes);
    used.add(name);
    if (row.lacking.length > 0) {
      report.warnings.push(`paused, since these secrets are not in the file: ${row.lacking.join(', ')}`);
    }
    const fields = shownValues(values, references.probeNames, [], row.watches);
    return {
      report: { ...judged, status: 'created', name, fields },
      create: { workspaceId, values, probeIds },
      ...(row.watches === undefined ? {} : { watches: row.watches }),
    };
  }

  /** What the row is a duplicate of. A group monitor has no URL: it is one of the same name, or one that watches the same. */
  #twinOf({ watches }: ImportedMonitor, name: string | undefined, key: string, workspaceId: number) {
    const duplicates =
      watches === undefined ? (this.#existing.get(key) ?? []) : (this.#groupMonitors.get(workspaceId) ?? []);
    const namesake = duplicates.find((each) => each.name === name);
    if (watches === undefined) return namesake ?? duplicates[0];
    return namesake ?? duplicates.find((each) => watchesSame(each, watches));
  }

  /**
   * A group monitor with the monitor group that it names; its members are found when all rows are known.
   * @throws Problem `unknown_group`
   */
  #pointed(values: PlainValues, workspaceId: number, watches: NamedGroupSettings | undefined): PlainValues {
    const name = watches?.group;
    if (name === undefined) return values;
    const id = this.#facts.groups.get(nameKey(workspaceId, name));
    if (id === undefined) {
      throw invalidInput('body', '/settings/group', 'unknown_group', `this workspace has no monitor group "${name}"`);
    }
    const { monitor_ids: _none, ...others } = values.settings.open;
    const open = { ...others, group_id: id };
    return { ...values, url: groupTarget(open), settings: { open, secret: {} } };
  }

  /** @throws Problem `no_probe_able` */
  #choose(values: PlainValues, probes: readonly NamedProbe[]): readonly number[] {
    const loaded = probes.map((probe) => ({ ...probe, load: probe.load + (this.#seats.get(probe.id) ?? 0) }));
    const { wanted_probe_ids: wanted, wanted_regions: regions } = values;
    const requires = requiredCapabilities(values.protocol, values.url, values.settings.open);
    const choice = choiceOf(values.protocol, { probeIds: wanted, regions, requires }, loaded, []);
    if (choice.kind === 'refused') throw new Problem('no_probe_able', choice.detail);
    if (choice.kind === 'central') return [];
    for (const id of choice.probeIds) this.#seats.set(id, (this.#seats.get(id) ?? 0) + 1);
    return choice.probeIds;
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
  return `${workspaceId} ${protocol} ${normalTarget(protocol, url)}`;
}

function getOrAdd(sets: Map<number, Set<string>>, key: number): Set<string> {
  const known = sets.get(key);
  if (known !== undefined) return known;
  const made = new Set<string>();
  sets.set(key, made);
  return made;
}
