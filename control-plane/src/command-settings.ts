import path from 'node:path';
import { chooseDataFolder } from '@parallax/embedded';
import { controlPlaneSettings, decodeKey, readSettings } from '@parallax/settings';
import type { ControlPlaneSettings, Environment } from '@parallax/settings';
import type { KeySource } from './installation/index.ts';
import { readRunning } from './supervisor/index.ts';

/** The folder that the control plane's sources lie in. */
export const checkout = path.resolve(import.meta.dirname, '../..');

/** Something a person can mend; printed without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

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

/** Where the key-encryption key is: given, or in the data folder. */
export function keySource(settings: ControlPlaneSettings): KeySource {
  return { ...givenKeys(settings), dataDir: settings.dataDir ?? './data' };
}

/** The key-encryption keys that the operator gives. */
export function givenKeys(settings: ControlPlaneSettings): Omit<KeySource, 'dataDir'> {
  const { keyEncryptionKey: key, keyEncryptionKeyPrevious: previous } = settings;
  return {
    keyEncryptionKey: key === undefined ? undefined : decodeKey(key),
    previousKeyEncryptionKey: previous === undefined ? undefined : decodeKey(previous),
  };
}
