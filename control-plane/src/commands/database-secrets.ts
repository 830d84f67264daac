import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { listenPlace } from './container-options.ts';
import type { ListenPlace } from './container-options.ts';
import { print } from './print.ts';

type SecretFlags = { readonly dir: string; readonly place: ListenPlace; readonly database: string };

/** Adds `database-secrets`, which needs no database. */
export function addDatabaseSecretsCommand(program: Command): void {
  program
    .command('database-secrets')
    .description('make passwords and URLs for the three logins of a new PostgreSQL; what is there is kept')
    .requiredOption('--dir <folder>', 'folder of the files')
    .requiredOption('--place <host:port>', 'where the PostgreSQL is dialled', listenPlace)
    .option('--database <name>', 'name of the database', 'parallax')
    .action(async ({ dir, place, database }: SecretFlags) => {
      const { host, port } = place;
      const shown = host.includes(':') ? `[${host}]` : host;
      const { makeDatabaseSecrets } = await import('../installation/database-secrets.ts');
      const written = await makeDatabaseSecrets({
        folder: dir,
        place: `${shown}:${port}`,
        database,
        random: randomBytes,
      });
      print(`${dir}: ${written.length === 0 ? 'nothing changed' : `wrote ${written.join(', ')}`}`);
    });
}
