import type {
  Assignment,
  ConfigurationEvent,
  Interval,
  MonitorInputs,
  Policy,
  Status,
} from '../../../../control-plane/src/monitoring/consensus/index.ts';

/** A row of the log of assignments. */
export type Seat = {
  readonly probeId: number;
  readonly region: string;
  readonly supplement: boolean;
  readonly fromUs: number;
  readonly countsByUs: number;
  toUs: number | null;
  revision: bigint;
};

/** A monitor with everything that hangs on it. Times in microseconds. */
export type MonitorRecord = {
  readonly id: number;
  readonly workspaceId: number;
  readonly shard: number;
  readonly createdUs: number;
  isDeleted: boolean;
  isActive: boolean;
  intervalS: number;
  timeoutS: number;
  confirmations: number;
  policy: Policy;
  probeRevision: number;
  resetUs: number | null;
  readonly history: (ConfigurationEvent & { readonly timeoutS: number; readonly intervalS: number })[];
  readonly seats: Seat[];
  readonly pauses: { fromUs: number; toUs: number | null }[];
  status: Status;
  statusSinceUs: number | null;
  /** What others were last told, where it is another status. */
  announcedStatus: Status | null;
  changedXid: number;
};

export type ProbeRecord = {
  readonly id: number;
  readonly region: string;
  readonly publicKey: Uint8Array;
  revision: bigint;
};

export type Quarantine = Interval & { readonly voter: number; readonly changedXid: number };

/** The inputs of a monitor's status, as the ingest reads them. */
export function inputsOf(monitor: MonitorRecord, quarantines: readonly Quarantine[]): MonitorInputs {
  const assignments = monitor.seats.map(
    ({ probeId, region, supplement, fromUs, countsByUs, toUs }): Assignment => ({
      voter: probeId,
      region,
      supplement,
      fromUs,
      countsByUs,
      toUs,
    }),
  );
  const voters = new Set(assignments.map(({ voter }) => voter));
  return {
    monitorId: monitor.id,
    assignments,
    configurations: monitor.history.map(({ fromUs, probeRevision, confirmations, policy, intervalS }) => ({
      fromUs,
      probeRevision,
      confirmations,
      policy,
      intervalS,
    })),
    pauses: monitor.pauses.map(({ fromUs, toUs }) => ({ fromUs, toUs })),
    quarantines: quarantines
      .filter(({ voter }) => voters.has(voter))
      .map(({ voter, fromUs, toUs }) => ({ voter, fromUs, toUs })),
    resetUs: monitor.resetUs,
    createdUs: monitor.createdUs,
  };
}
