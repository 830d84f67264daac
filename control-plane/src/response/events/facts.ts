/** What events say of a subject beside what happened, as it is when the event is made. */
export type SubjectFacts = {
  readonly name: string;
  readonly target: string | null;
  readonly tags: readonly string[];
  readonly groupIds: readonly number[];
  readonly isFlapping: boolean;
  readonly inMaintenance: boolean;
  /** The incident that is open for it. */
  readonly incidentId: number | null;
};

/** A subject by type and number. */
export type SubjectKey = `${string} ${number}`;

export const subjectKey = (type: string, id: number): SubjectKey => `${type} ${id}`;

/** Everything that translation reads, by subject. */
export type Facts = {
  readonly subjects: ReadonlyMap<SubjectKey, SubjectFacts>;
  /** The workspace of a private probe; a shared one has none and is told of to nobody. */
  readonly workspaceOfProbe: ReadonlyMap<number, number>;
  /** What somebody wrote with a message of an incident, by "incident seq". */
  readonly written: ReadonlyMap<string, string>;
  readonly publicUrl: string;
};
