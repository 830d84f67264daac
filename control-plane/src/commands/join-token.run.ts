import { randomBytes } from 'node:crypto';
import type { ControlPlaneSettings, Environment } from '@parallax/settings';
import { provideJoinTokens } from '../installation/index.ts';
import type { TokenFileOutcome, WantedProbe } from '../installation/index.ts';
import { createJoinToken, joinCommand } from '../monitoring/probes/join-token.queries.ts';
import { places } from '../places.ts';
import { settingsWithDatabase } from './command-settings.ts';
import { withInstallation } from './installation.ts';
import { makeJoinToken } from './make-join-token.ts';
import { print } from './print.ts';

export type CreateFlags = {
  readonly name: string;
  readonly region: string;
  readonly minutes: number;
  readonly json?: boolean;
};

export type ProvideFlags = { readonly dir: string; readonly probe: readonly WantedProbe[] };

export async function runCreate(env: Environment, { json, ...flags }: CreateFlags): Promise<void> {
  const given = settingsWithDatabase(env);
  const token = await makeJoinToken(given.settings, given.databaseUrl, flags);
  const enrolment = given.enrolmentAddress ?? places(given.settings).addresses.enrolment;
  const command = joinCommand(enrolment, token);
  if (json === true) print(JSON.stringify({ token, command }));
  else
    print(`Run this on the machine of the probe within ${flags.minutes} minutes:\n\n  ${command}\n  probe-agent run\n`);
}

const outcomeTexts = {
  registered: 'is registered; to register it anew, revoke it first (DELETE /api/v1/probes/ID)',
  kept: 'has a token that may still be used',
  written: 'has a new token, good for a day',
} as const;

export async function runProvide(env: Environment, flags: ProvideFlags): Promise<void> {
  const { settings, databaseUrl } = settingsWithDatabase(env);
  for (const { name, outcome } of await provide(settings, databaseUrl, flags))
    print(`${name}: ${outcomeTexts[outcome]}`);
}

/** Sees to it that every named probe finds a usable join token in the folder, or is registered. */
function provide(
  settings: ControlPlaneSettings,
  databaseUrl: string,
  flags: ProvideFlags,
): Promise<readonly TokenFileOutcome[]> {
  return withInstallation(settings, databaseUrl, ({ installation, database }) => {
    const { fingerprint } = installation.authority;
    return provideJoinTokens({
      pool: database.worker,
      folder: flags.dir,
      probes: flags.probe,
      fingerprint,
      nowMs: Date.now(),
      create: async (probe) => {
        const created = await createJoinToken(database.worker, {
          ...probe,
          workspaceId: null,
          createdBy: null,
          minutes: 1_440,
          fingerprint,
          random: (count) => randomBytes(count),
        });
        return created.token;
      },
    });
  });
}
