import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Names this boot of the machine, so that monotonic times of it can be compared; where the system has no such name, this run of the agent. */
export function machineBootId(): string {
  try {
    const text = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    if (/^[0-9a-f-]{36}$/.test(text)) return text;
  } catch {
    // Not Linux, or not readable here.
  }
  return randomUUID();
}
