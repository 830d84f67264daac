import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const manifest = z.object({ version: z.string() });

/** The version of the program, from its package manifest. */
export const version = manifest.parse(
  JSON.parse(readFileSync(path.join(import.meta.dirname, '../package.json'), 'utf8')),
).version;
