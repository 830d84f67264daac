import { createMonitorSchema, Problem } from '@parallax/api-contract';
import type { CreateMonitor, ImportRow } from '@parallax/api-contract';
import type { NamedGroupSettings } from '../../../groups/check/index.ts';
import type { ImportedMonitor } from '../formats/imported.ts';
import { differences, shownExport, shownValues } from './difference.ts';
import type { Existing } from './facts.ts';
import { newMonitorLacking } from './lacking.ts';

/**
 * What a row would be as a request; its members, or its group, aside.
 * @throws Problem `invalid_input` with the first thing that is wrong
 */
export function bodyOf(
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
    ...(row.watches === undefined ? {} : { settings: withoutMembers(row.watches) }),
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join('.') ?? '';
  throw new Problem('invalid_input', `${path}: ${issue?.message ?? 'not valid'}`);
}

/** Valid settings of a group monitor whose members, or whose group, are not known yet. */
function withoutMembers({ minimum_up: minimumUp }: NamedGroupSettings): Record<string, unknown> {
  return { monitor_ids: [], ...(minimumUp === undefined ? {} : { minimum_up: minimumUp }) };
}

/** How the row differs is told even where it could not be created, as after a downgrade of the plan. */
export function skippedDuplicate(
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
    reason: `monitor ${twin.id} of this workspace ${row.watches === undefined ? 'has this URL and protocol' : 'has this name, or watches the same'}`,
  };
  try {
    const values = newMonitorLacking(
      body,
      body.name ?? twin.name,
      { plan: '', minimumIntervalSeconds: 0, unconfirmedIntervalSeconds: 0 },
      row.lacking,
    );
    const shown = shownValues({ ...values, is_active: body.is_active }, probes, row.lacking, row.watches);
    return { ...skipped, differences: [...differences(shownExport(twin), shown)] };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { ...skipped, warnings: [...skipped.warnings, `the row itself is not valid: ${error.message}`] };
  }
}
