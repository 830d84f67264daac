import { certificateFacts, fingerprint } from '@parallax/pki/certificate-facts';
import type { AgentSettings } from '@parallax/settings';
import { readIdentity } from '../state/identity.ts';
import type { Identity } from '../state/identity.ts';
import { statusOfRunningAgent } from '../state/lock.ts';
import type { Output } from './output.ts';

/** Says how the agent of a state folder is. Gives false when there is none or it is not connected. */
export async function runStatus(settings: AgentSettings, output: Output, json: boolean): Promise<boolean> {
  const identity = await readIdentity(settings.stateDir);
  const running = await statusOfRunningAgent(settings.stateDir);
  const facts = {
    registered: identity !== undefined,
    running: running !== undefined,
    ...(identity && identityFacts(identity)),
    ...running,
  };
  if (json) output.line(JSON.stringify(facts));
  else if (identity === undefined)
    output.line(`${settings.stateDir} has no registered probe; register it with "probe-agent register"`);
  else {
    for (const [key, value] of Object.entries(facts)) output.line(`${key.replaceAll('_', ' ')}: ${String(value)}`);
  }
  return running?.['session_connected'] === true;
}

/** What a probe knows of itself once it is registered. */
export function identityFacts(identity: Identity): Record<string, unknown> {
  return {
    probe_id: identity.probeId,
    name: identity.name,
    region: identity.region,
    control_plane: identity.sessionAddress,
    certificate_not_after: new Date(certificateFacts(identity.certificateDer).notAfterMs).toISOString(),
    authority_fingerprint: fingerprint(identity.authorityDer),
  };
}
