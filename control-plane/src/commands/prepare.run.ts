import type { ControlPlaneSettings, Environment } from '@parallax/settings';
import { writeNatsFiles } from '../installation/index.ts';
import { places } from '../places.ts';
import { settingsWithDatabase } from './command-settings.ts';
import type { ListenPlace } from './container-options.ts';
import { hostOf, prepare, withInstallation } from './installation.ts';
import { print } from './print.ts';

/** Options of `prepare` for a nats-server that is started by others. */
export type NatsFileFlags = {
  readonly natsDir?: string;
  readonly natsListen: ListenPlace;
  readonly natsMonitor?: ListenPlace;
};

export async function runPrepare(env: Environment, flags: NatsFileFlags): Promise<void> {
  const { settings, databaseUrl } = settingsWithDatabase(env);
  const { migrated } = await prepare(settings, databaseUrl);
  print(migrated.length === 0 ? 'the installation is up to date' : `migrated: ${migrated.join(', ')}`);
  const { natsDir } = flags;
  if (natsDir === undefined) return;
  const written = await writeFilesOfNats(settings, databaseUrl, { ...flags, natsDir });
  print(`${natsDir}: ${written.length === 0 ? 'nothing changed' : `wrote ${written.join(', ')}`}`);
}

/** Writes the files of a nats-server that is started by others; gives the names of those that changed. */
function writeFilesOfNats(
  settings: ControlPlaneSettings,
  databaseUrl: string,
  flags: NatsFileFlags & { readonly natsDir: string },
): Promise<readonly string[]> {
  const { addresses, natsUrl } = places(settings);
  return withInstallation(settings, databaseUrl, ({ installation, database }) =>
    writeNatsFiles({
      installation,
      pool: database.worker,
      folder: flags.natsDir,
      listen: flags.natsListen,
      monitor: flags.natsMonitor,
      names: [...new Set([hostOf(addresses.broker), hostOf(natsUrl.replace(/^[a-z]+:\/\//, ''))])],
      nowMs: Date.now(),
    }),
  );
}
