import type { Incident } from '@parallax/api-contract';
import { probesIn, readableEvidence, readStored } from '../../monitoring/monitors/index.ts';
import type { NamedProbes } from '../../monitoring/monitors/index.ts';

type Cause = NonNullable<Incident['cause']>;
/** Incidents, or reports of them, with causes as they are stored. */
type WithCauses = Pick<Incident, 'cause' | 'members'>;

/** The probes that the causes of incidents name. */
export function probesOfCauses(incidents: readonly WithCauses[]): readonly number[] {
  const causes = incidents.flatMap(({ cause, members }) => [cause, ...members.flatMap((member) => member.causes)]);
  return probesIn(
    causes.filter((cause) => cause !== null && isMeasured(cause)).map((cause) => readStored(cause?.evidence)),
  );
}

/** An incident whose causes are in the readable form. */
export function withReadableCauses<Shown extends WithCauses>(incident: Shown, probes: NamedProbes): Shown {
  const readable = (cause: Cause): Cause =>
    isMeasured(cause) ? { ...cause, evidence: readableEvidence(readStored(cause.evidence), probes) } : cause;
  const readableOrNull = (cause: Cause | null): Cause | null => (cause === null ? null : readable(cause));
  return {
    ...incident,
    cause: readableOrNull(incident.cause),
    members: incident.members.map((member) => ({
      ...member,
      cause: readableOrNull(member.cause),
      causes: member.causes.map(readable),
    })),
  };
}

/** Whether probes found it. Heartbeats and webhook checks tell of themselves, in words that need no translation. */
const isMeasured = ({ status }: Cause): boolean => status === 'DOWN' || status === 'TIMEOUT';
