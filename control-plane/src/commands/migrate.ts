import type { Environment } from '@parallax/settings';
import type { Command } from 'commander';
import { print } from './print.ts';

/** Adds `migrate`. */
export function addMigrateCommand(program: Command, env: Environment): void {
  program
    .command('migrate')
    .description('bring the schema of the database up to date')
    .action(async () => {
      const [{ settingsWithDatabase }, { migrate }] = await Promise.all([
        import('./command-settings.ts'),
        import('../platform/database/migrate.ts'),
      ]);
      const ran = await migrate(settingsWithDatabase(env).databaseUrl);
      print(ran.length === 0 ? 'the schema is up to date' : `migrated: ${ran.join(', ')}`);
    });
}
