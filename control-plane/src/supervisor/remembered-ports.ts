import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Ports } from './environment.ts';

const portSchema = z.int().min(1).max(65_535).optional();
const rememberedSchema = z.object({ http: portSchema, grpc: portSchema, enrolment: portSchema, nats: portSchema });

/** Ports that stood in for taken defaults at an earlier start; used again so that addresses stay. */
export function recallPorts(dataDir: string): Partial<Record<keyof Ports, number | undefined>> {
  try {
    return rememberedSchema.parse(JSON.parse(readFileSync(fileOf(dataDir), 'utf8')));
  } catch {
    return {};
  }
}

/** Adds to what is remembered. */
export function rememberPorts(dataDir: string, replaced: Readonly<Record<string, number>>): void {
  if (Object.keys(replaced).length === 0) return;
  writeFileSync(fileOf(dataDir), `${JSON.stringify({ ...recallPorts(dataDir), ...replaced })}\n`, { mode: 0o600 });
}

function fileOf(dataDir: string): string {
  return path.join(dataDir, 'run', 'ports.json');
}
