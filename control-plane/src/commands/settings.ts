import { controlPlaneSettings, settingsTable } from '@parallax/settings';
import type { Command } from 'commander';
import { print } from './print.ts';

/** Adds `settings`. */
export function addSettingsCommand(program: Command): void {
  program
    .command('settings')
    .description('print the table of all settings')
    .action(() => print(settingsTable(controlPlaneSettings)));
}
