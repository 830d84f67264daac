import type { PresentedIdentity } from '../../../control-plane/src/monitoring/probes/sessions/queries.ts';
import type { ServerStream } from '../models/sessions.ts';

/* Who a session is with: the modelled connection knows. */

export function presentedIdentity(call: ServerStream): PresentedIdentity {
  return { probeId: call.probeId, serial: '1', publicKeyFingerprint: '', certificateDer: new Uint8Array() };
}
