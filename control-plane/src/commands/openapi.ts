import type { Command } from 'commander';
import { print } from './print.ts';

/** Adds `openapi`. */
export function addOpenapiCommand(program: Command): void {
  program
    .command('openapi')
    .description('print the OpenAPI document of the API')
    .action(async () => {
      const { describeRoutes } = await import('../openapi-document.ts');
      print(JSON.stringify(describeRoutes(), null, 2));
    });
}
