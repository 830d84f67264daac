import { EnrolmentError } from './enrolment-error.ts';

/** The control plane was reached and has no certificate for this probe: it was removed, revoked, or away for too long. */
export class ProbeRefused extends EnrolmentError {}
