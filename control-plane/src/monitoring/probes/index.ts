import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { startBrokerAccess } from './broker-access/job.ts';
import { probeConsumers } from './consumer.ts';
import { startProbeListeners } from './gateway.ts';
import { startQuarantines } from './quarantine/job.ts';
import { probeRoutes } from './routes.ts';
import { startSessionSweep } from './session-history/job.ts';

/** Probes: their registration, certificates, sessions and access to the broker. */
export const probesCapability: Capability<Context> = {
  name: 'probes',
  routes: probeRoutes,
  services: [
    { name: 'probe-listeners', role: 'dispatch', start: (context, log) => startProbeListeners(context, log) },
    { name: 'broker-access', role: 'dispatch', start: startBrokerAccess },
    { name: 'session-history', role: 'worker', start: startSessionSweep },
    { name: 'quarantines', role: 'worker', start: startQuarantines },
  ],
  consumers: probeConsumers,
};

export { askChain, askDiagnosis, askProbe, type ProbeRequest } from './ask.ts';
export {
  type DiagnosisAnswer,
  type DispatchMessage,
  type DispatchPosition,
  type ChainAnswer,
  type RunCheckAnswer,
  type RunCheckRequest,
  type UnsavedAssignment,
} from './dispatch-messages.ts';
export { createJoinToken, type CreatedJoinToken, type JoinTokenOptions } from './join-token.queries.ts';
export { countProbes } from './queries.ts';
export { revokeProbe } from './revoke.queries.ts';
