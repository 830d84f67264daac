import { randomBytes } from 'node:crypto';
import type { ControlPlaneSettings } from '@parallax/settings';
// Not by the index of the probes: the supervisor, which keeps in memory what it loads, needs neither their routes nor their listeners.
import { createJoinToken } from '../monitoring/probes/join-token.queries.ts';
import { revokeAbsentProbe } from '../monitoring/probes/restored/queries.ts';
import { withInstallation } from './installation.ts';

/** Makes a join token of a public probe. @param replacesAbsent revokes a probe of that name first when it has no session */
export function makeJoinToken(
  settings: ControlPlaneSettings,
  databaseUrl: string,
  {
    replacesAbsent,
    ...options
  }: { readonly name: string; readonly region: string; readonly minutes?: number; readonly replacesAbsent?: boolean },
): Promise<string> {
  return withInstallation(settings, databaseUrl, async ({ installation, database }) => {
    if (replacesAbsent === true) await revokeAbsentProbe(database.worker, options.name, options.region);
    const { token } = await createJoinToken(database.worker, {
      ...options,
      workspaceId: null,
      createdBy: null,
      fingerprint: installation.authority.fingerprint,
      random: (count) => randomBytes(count),
    });
    return token;
  });
}
