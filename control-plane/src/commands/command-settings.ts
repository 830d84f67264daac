import path from 'node:path';
import { chooseDataFolder } from '@parallax/embedded';
import { controlPlaneSettings, readSettings } from '@parallax/settings';
import type { ControlPlaneSettings, Environment } from '@parallax/settings';
import { readRunning } from '../supervisor/index.ts';
import { UsageError } from './usage-error.ts';

/** The folder that the control plane's sources lie in. */
export const checkout = path.resolve(import.meta.dirname, '../../..');

/** The settings and the database: as set, or that of the product that runs on the data folder. */
export function settingsWithDatabase(env: Environment): {
  settings: ControlPlaneSettings;
  databaseUrl: string;
  /** As what runs here tells it, since a command is given fewer settings than that was. */
  enrolmentAddress?: string;
} {
  const settings = readSettings(controlPlaneSettings, env);
  if (settings.databaseUrl !== undefined) return { settings, databaseUrl: settings.databaseUrl };
  const { folder: dataDir } = chooseDataFolder({ named: settings.dataDir, checkout });
  const running = readRunning(dataDir);
  if (running === undefined) {
    throw new UsageError(
      `nothing runs on the data folder ${dataDir}: start Parallax with npm start, name its folder as PARALLAX_DATA_DIR, or set PARALLAX_DATABASE_URL`,
    );
  }
  const { database_urls: urls, enrolment_address: enrolmentAddress } = running;
  if (urls === null) {
    throw new UsageError(
      `what runs on the data folder ${dataDir} has its database elsewhere: set PARALLAX_DATABASE_URL as it was set for npm start`,
    );
  }
  return {
    settings: { ...settings, dataDir, databaseApiUrl: urls.api, databaseWorkerUrl: urls.worker },
    databaseUrl: urls.owner,
    enrolmentAddress,
  };
}
