import os from 'node:os';
import type { Moment } from '../assignments/confirmation-age.ts';
import { monotonicUs } from '../ports.ts';

/** How long this machine has slept since its boot, milliseconds; undefined where the system does not tell. Only differences matter. */
export function sleptMs(): number | undefined {
  // Linux counts its uptime through sleep and its monotonic clock not; elsewhere the uptime is made from the wall clock.
  return process.platform === 'linux' ? os.uptime() * 1_000 - monotonicUs() / 1_000 : undefined;
}

/** Now, by every clock of this machine. @param serverMs the server's time as well as it is known */
export function momentNow(bootId: string, serverMs: number): Moment {
  return { bootId, uptimeMs: os.uptime() * 1_000, monotonicMs: monotonicUs() / 1_000, wallMs: Date.now(), serverMs };
}
