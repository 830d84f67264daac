import type { ImportRow } from '@parallax/api-contract';
import type { NamedGroupSettings } from '../../../groups/check/index.ts';
import type { PlainValues, PlanLimits } from '../../values.ts';
import type { ExportedMonitor } from '../export/csv.ts';
import type { ImportedRow } from '../formats/imported.ts';
import type { Place } from './place.ts';
import type { NamedProbe } from './references.ts';

/** A monitor of a target workspace that has one of the URLs of the file, or a group monitor of it. */
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
  /** Identifiers of the monitors and monitor groups that group monitors of the file name, by `nameKey`. */
  readonly monitors: ReadonlyMap<string, number>;
  readonly groups: ReadonlyMap<string, number>;
};

/** A row with its place. */
export type PlacedRow = { readonly row: ImportedRow; readonly place: Place };

/** A monitor that is to be created. */
export type NewMonitor = {
  readonly workspaceId: number;
  readonly values: PlainValues;
  readonly probeIds: readonly number[];
  /** Members of a group monitor that are there, and those that are created from the same file: indices of its rows. */
  readonly memberIds?: readonly number[];
  readonly memberRows?: readonly number[];
};

/** What becomes of a row: the report as of a dry run, and what is to be created. */
export type PlannedRow = {
  readonly report: ImportRow;
  readonly create?: NewMonitor;
  /** Of a group monitor that is to be created. */
  readonly watches?: NamedGroupSettings;
};
