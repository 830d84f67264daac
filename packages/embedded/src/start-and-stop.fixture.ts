// Run by a test under another user: starts a PostgreSQL in the given folder, prints the user it runs as, stops it.
import { statSync } from 'node:fs';
import { createLogger } from '@parallax/telemetry';
import { startPostgres } from './index.ts';

const server = await startPostgres({
  dataDir: process.argv[2] ?? '',
  durable: false,
  log: createLogger({ name: 'fixture', level: 'silent' }),
});
process.stdout.write(`${statSync(`/proc/${server.pid}`).uid}\n`);
await server.stop();
