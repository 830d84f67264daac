/** Counts of monitors, or of others that are watched. */
export type Counts = {
  readonly total: number;
  readonly up: number;
  readonly down: number;
  readonly degraded: number;
  readonly unknown: number;
  readonly paused: number;
};

/** A line of a list. */
export type Listed = {
  /** Of a monitor, by which it is paused; null of others. */
  readonly id: number | null;
  readonly name: string;
  readonly status: string;
  readonly isPaused: boolean;
  /** How long it has been so, milliseconds; null when that is not known. */
  readonly sinceMs: number | null;
};

/** What is watched beside monitors. */
export type OtherKind = 'heartbeat' | 'webhook_check';

/** All of one kind: how they stand, and some of them by name. */
export type Others = { readonly kind: OtherKind; readonly counts: Counts; readonly listed: readonly Listed[] };

/** Everything that the bot says, in one language. Texts are the messenger's HTML; what is given is escaped by these functions. */
export type Words = {
  readonly help: (isLinked: boolean) => string;
  readonly linkedPerson: (name: string) => string;
  readonly linkedGroup: (workspace: string) => string;
  readonly linkUnknown: string;
  readonly linkTaken: string;
  readonly linkNoRight: string;
  readonly linkFull: string;
  readonly notLinked: string;
  readonly groupNotLinked: string;
  readonly needsEditor: string;
  readonly status: (workspace: string, counts: Counts, down: readonly Listed[], others: readonly Others[]) => string;
  readonly list: (workspace: string, monitors: readonly Listed[], total: number, others: readonly Others[]) => string;
  readonly nothingHere: string;
  readonly paused: (monitor: string) => string;
  readonly resumed: (monitor: string) => string;
  readonly unknownMonitor: (wanted: string) => string;
  readonly ambiguous: (wanted: string, found: readonly { readonly id: number; readonly name: string }[]) => string;
  readonly muted: (until: string, alerts: number) => string;
  readonly unmuted: (alerts: number) => string;
  readonly nothingToMute: string;
  readonly usage: Readonly<Record<'pause' | 'resume' | 'mute', string>>;
  readonly refused: (reason: string) => string;
  readonly failed: string;
  /** Plain text, at most 200 characters: what a pressed button shows. */
  readonly button: {
    readonly acknowledged: string;
    readonly resolved: string;
    readonly gone: string;
    readonly muted: string;
    readonly nothingToMute: string;
    readonly notLinked: string;
    readonly needsEditor: string;
    readonly failed: string;
  };
};
