import { findCycle, tellCycle } from '../../../groups/check/index.ts';
import type { GroupNode } from '../../../groups/check/index.ts';
import { sameJson } from '../../settings.ts';
import type { Existing, NewMonitor, PlanFacts, PlannedRow } from './facts.ts';

/** The key of something of a workspace that is found by its name. */
export function nameKey(workspaceId: number, name: string): string {
  return `${workspaceId} ${name}`;
}

/** Whether an existing group monitor watches what a row wants to watch; an empty list is nothing that two could share. */
export function watchesSame(existing: Existing, row: NonNullable<PlannedRow['watches']>): boolean {
  const { monitors = null, group = null } = existing.settings;
  if (row.monitors?.length === 0) return false;
  return sameJson([monitors, group], [row.monitors ?? null, row.group ?? null]);
}

/** A group monitor of the file that is to be created. */
type Candidate = {
  readonly index: number;
  readonly create: NewMonitor;
  readonly memberIds: readonly number[];
  /** Rows of the file that are members, by index. */
  readonly rows: readonly number[];
  readonly warnings: readonly string[];
};

type Fault = { readonly code: string; readonly reason: string };

/**
 * Finds the members that group monitors of a file name: monitors that are there, or rows of the file, later ones too. A row that names what is
 * nowhere fails, as do those on a circle, and those that name one which fails.
 * @param planned the file, each row judged but for the members that it names
 */
export function withMembers(planned: readonly PlannedRow[], facts: PlanFacts): readonly PlannedRow[] {
  const faults = new Map<number, Fault>();
  const candidates = new Map<number, Candidate>();
  const rows = rowsByName(planned);
  for (const [index, row] of planned.entries()) {
    const found = membersOf(index, row, { planned, rows, facts });
    if (found === undefined) continue;
    if ('reason' in found) faults.set(index, found);
    else candidates.set(index, found);
  }
  spread([...faults.keys()], planned, candidates, faults);
  for (let cycle = cycleIn(candidates); cycle !== undefined; cycle = cycleIn(candidates)) {
    const reason = `settings.monitors: a group monitor would contain itself: ${tellCycle(cycle)}`;
    for (const { id: index } of cycle) faults.set(index, { code: 'group_cycle', reason });
    for (const { id: index } of cycle) candidates.delete(index);
    spread(
      cycle.map(({ id }) => id),
      planned,
      candidates,
      faults,
    );
  }
  return planned.map((row, index) => {
    const fault = faults.get(index);
    const found = candidates.get(index);
    if (fault !== undefined) return { report: failed(row, fault) };
    if (found === undefined) return row;
    const report = { ...row.report, warnings: [...row.report.warnings, ...found.warnings] };
    return { ...row, report, create: { ...found.create, memberIds: found.memberIds, memberRows: found.rows } };
  });
}

type World = {
  readonly planned: readonly PlannedRow[];
  readonly rows: ReadonlyMap<string, number>;
  readonly facts: PlanFacts;
};

/** @returns undefined for a row that names no members */
function membersOf(
  index: number,
  { create, watches }: PlannedRow,
  { planned, rows, facts }: World,
): Candidate | Fault | undefined {
  if (create === undefined || watches?.monitors === undefined) return undefined;
  const memberIds = new Set<number>();
  const memberRows: number[] = [];
  const unknown: string[] = [];
  const warnings: string[] = [];
  for (const name of watches.monitors) {
    const key = nameKey(create.workspaceId, name);
    const id = facts.monitors.get(key);
    const row = rows.get(key);
    const twin = row === undefined ? undefined : planned[row]?.report;
    if (id !== undefined) memberIds.add(id);
    else if (row !== undefined && planned[row]?.create !== undefined) memberRows.push(row);
    else if (twin?.code === 'duplicate' && twin.monitor_id !== undefined) {
      memberIds.add(twin.monitor_id);
      warnings.push(`"${name}" is monitor ${twin.monitor_id} here`);
    } else unknown.push(name);
  }
  if (unknown.length === 0) return { index, create, memberIds: [...memberIds], rows: memberRows, warnings };
  const names = unknown.map((name) => `"${name}"`).join(', ');
  const reason = `settings.monitors: this workspace and this file have no monitor ${names}`;
  return { code: 'unknown_monitor', reason: reason.length > 500 ? `${reason.slice(0, 500)}…` : reason };
}

/** Of rows with one name the one that is created, or else one that is there already. */
function rowsByName(planned: readonly PlannedRow[]): ReadonlyMap<string, number> {
  const named = planned.flatMap(({ report: { name, workspace_id: workspaceId, status, code } }, index) =>
    name === null || workspaceId === null || (status !== 'created' && code !== 'duplicate')
      ? []
      : [{ key: nameKey(workspaceId, name), index, status }],
  );
  const wanted = [
    ...named.filter(({ status }) => status !== 'created'),
    ...named.filter((each) => each.status === 'created'),
  ];
  return new Map(wanted.map(({ key, index }) => [key, index]));
}

/** Makes fail, and removes, what names a row that has failed. */
function spread(
  failures: readonly number[],
  planned: readonly PlannedRow[],
  candidates: Map<number, Candidate>,
  faults: Map<number, Fault>,
): void {
  const namedBy = new Map<number, number[]>();
  for (const { index, rows } of candidates.values()) {
    for (const row of rows) {
      const known = namedBy.get(row);
      if (known === undefined) namedBy.set(row, [index]);
      else known.push(index);
    }
  }
  const waiting = [...failures];
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    const name = planned[row]?.report.name ?? '';
    for (const index of namedBy.get(row) ?? []) {
      if (!candidates.delete(index)) continue;
      const reason = `settings.monitors: row ${row + 1}, "${name}", is not imported`;
      faults.set(index, { code: 'unknown_monitor', reason });
      waiting.push(index);
    }
  }
}

/** Only rows of the file can be on a circle: what is there already names none of them. */
function cycleIn(candidates: ReadonlyMap<number, Candidate>): readonly GroupNode[] | undefined {
  const nodes = [...candidates.values()].map(({ index, create, rows }) => ({
    id: index,
    name: create.values.name,
    group: null,
    members: rows.filter((row) => candidates.has(row)),
  }));
  return findCycle(nodes);
}

function failed({ report }: PlannedRow, fault: Fault): PlannedRow['report'] {
  const { fields: _fields, ...rest } = report;
  return { ...rest, status: 'failed', ...fault };
}
