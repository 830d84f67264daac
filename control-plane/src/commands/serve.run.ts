import { controlPlaneSettings, explicitSettings } from '@parallax/settings';
import type { Environment } from '@parallax/settings';
import { createLogger, createShutdown } from '@parallax/telemetry';
import { serve } from '../serve.ts';
import { settingsWithDatabase } from './command-settings.ts';

export async function runServe(env: Environment): Promise<void> {
  const { settings, databaseUrl } = settingsWithDatabase(env);
  const log = createLogger({ name: 'control-plane', level: settings.logLevel });
  const shutdown = createShutdown({ log });
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'a defect of the control plane');
    void shutdown.stop('a defect').then(() => process.exit(1));
  });
  // A replica need not name what is fixed in the database; one that names something else is set up for another installation.
  const namedShards = explicitSettings(controlPlaneSettings, env).has('shards') ? settings.shards : undefined;
  try {
    await serve(settings, databaseUrl, log, shutdown, namedShards);
  } catch (error) {
    await shutdown.stop('it could not start');
    throw error;
  }
}
