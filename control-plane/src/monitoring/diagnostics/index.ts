import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { diagnosticsConsumers } from './consumer.ts';
import { startDiagnostics } from './job.ts';

/** Diagnostics of disagreements: what a failing and a passing probe see of the same target, step by step. */
export const diagnosticsCapability: Capability<Context> = {
  name: 'diagnostics',
  services: [{ name: 'diagnostics', role: 'worker', start: (context, log) => startDiagnostics(context, log) }],
  consumers: diagnosticsConsumers,
};

export { diagnosesOfRange, removeDiagnoses } from './queries.ts';
export type { KeptDiagnosis, KeptSide } from './queries.ts';
