import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { identityOf } from '@parallax/embedded';
import { z } from 'zod';

const urlsSchema = z.object({ owner: z.string(), api: z.string(), worker: z.string() });
const runningSchema = z.object({
  pid: z.int(),
  started_at: z.string(),
  http_url: z.string(),
  /** Of the embedded PostgreSQL, whose URLs hold no password; null for one that the operator named. */
  database_urls: urlsSchema.nullable(),
  nats: z.object({ host: z.string(), port: z.int() }).nullable(),
  /** Where a probe dials to enrol, `host:port`. */
  enrolment_address: z.string(),
});

/** What other commands on this machine (`join-token create`, `backup`) need to know of a running `up`. */
export type RunningInstallation = z.infer<typeof runningSchema>;

function fileOf(dataDir: string): string {
  return path.join(dataDir, 'run', 'running.json');
}

export function writeRunning(dataDir: string, running: Omit<RunningInstallation, 'pid' | 'started_at'>): void {
  const file = fileOf(dataDir);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const identity = { pid: process.pid, started_at: identityOf(process.pid)?.startedAt ?? '' };
  writeFileSync(`${file}.new`, `${JSON.stringify({ ...identity, ...running })}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export function forgetRunning(dataDir: string): void {
  rmSync(fileOf(dataDir), { force: true });
}

/** The installation that runs on this data folder now, or undefined. A file that a killed run left does not count. */
export function readRunning(dataDir: string): RunningInstallation | undefined {
  try {
    const running = runningSchema.parse(JSON.parse(readFileSync(fileOf(dataDir), 'utf8')));
    return identityOf(running.pid)?.startedAt === running.started_at ? running : undefined;
  } catch {
    return undefined;
  }
}
