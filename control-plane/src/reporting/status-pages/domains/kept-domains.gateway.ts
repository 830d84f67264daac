import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '@parallax/telemetry';
import { z } from 'zod';
import type { ServedDomain } from './domains.queries.ts';

/** Raised when the file becomes another: one of another form is not read. */
const form = 1;
const fileName = 'status-page-domains.json';

const kept = z.object({
  form: z.literal(form),
  domains: z.array(
    z.object({ domain: z.string(), slug: z.string(), workspace_id: z.number(), is_published: z.boolean() }),
  ),
});

/** Writes domains into the data folder, for a process that starts while the database is away. A write that fails is told and costs nothing else. */
export async function keepDomains(dataDir: string, domains: readonly ServedDomain[], log: Logger): Promise<void> {
  const file = path.join(dataDir, fileName);
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await writeFile(`${file}.new`, JSON.stringify({ form, domains }), { mode: 0o600 });
    await rename(`${file}.new`, file);
  } catch (error) {
    log.warn({ err: error }, 'domains of status pages cannot be kept in the data folder');
  }
}

/** Domains as they were kept; none where there is no file that can be read. */
export async function readKeptDomains(dataDir: string, log: Logger): Promise<readonly ServedDomain[]> {
  const file = path.join(dataDir, fileName);
  try {
    return kept.parse(JSON.parse(await readFile(file, 'utf8'))).domains;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing) log.warn({ err: error, file }, 'kept domains of status pages cannot be read; they are left out');
    return [];
  }
}
