import type { ControlPlaneSettings } from '@parallax/settings';
import { createLogger } from '@parallax/telemetry';
import type { Logger } from '@parallax/telemetry';

/** The log of a command, on standard error. Ordinary lines, such as those of the embedded PostgreSQL, are of no interest there. */
export function commandLog(settings: ControlPlaneSettings): Logger {
  return createLogger({
    name: 'control-plane',
    level: settings.logLevel === 'info' ? 'warn' : settings.logLevel,
    destination: process.stderr,
  });
}
