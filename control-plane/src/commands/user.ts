import type { Environment } from '@parallax/settings';
import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { plans } from '../identity/plans/plans.ts';
import type { PlanName } from '../identity/plans/plans.ts';
import type { CreateFlags, JsonFlag, MakeAdminFlags, PasswordFlags } from './user.run.ts';

const run = () => import('./user.run.ts');

/** Adds `user`, by which the operator makes accounts and helps those who cannot help themselves. */
export function addUserCommands(program: Command, env: Environment): void {
  const user = program
    .command('user')
    .description('accounts: list, make, give a new password, rights or a plan, take a second factor away');
  user.addHelpText(
    'after',
    `
A user is named by number or mail address. The commands work while the product runs and when it is stopped.

Examples:
  control-plane user list
  control-plane user create ada@example.com --administrator
  pass show parallax | control-plane user reset-password ada@example.com --password-stdin
  control-plane user reset-second-factor ada@example.com
  control-plane user make-admin 17
  control-plane user set-plan ada@example.com paid`,
  );
  const jsonOption = ['--json', 'print JSON'] as const;
  const stdinOption = ['--password-stdin', 'read the password from standard input instead of making one'] as const;
  const planNames = Object.keys(plans);
  user
    .command('list')
    .description('print all accounts')
    .option(...jsonOption)
    .action(async (flags: JsonFlag) => (await run()).runList(env, flags));
  user
    .command('create')
    .description('make an account with its default workspace, whatever PARALLAX_REGISTRATION says')
    .argument('<email>', 'mail address')
    .addOption(
      new Option('--plan <plan>', 'name of the plan; that of PARALLAX_DEFAULT_PLAN when absent').choices(planNames),
    )
    .option('--administrator', 'let it administer the installation; the first account does in any case')
    .option(...stdinOption)
    .option(...jsonOption)
    .action(async (email: string, flags: CreateFlags) => (await run()).runCreate(env, email, flags));
  user
    .command('reset-password')
    .description('give an account a new password; its sessions end')
    .argument('<user>', 'number or mail address')
    .option(...stdinOption)
    .option(...jsonOption)
    .action(async (wanted: string, flags: PasswordFlags) => (await run()).runResetPassword(env, wanted, flags));
  user
    .command('reset-second-factor')
    .description(
      'remove the authenticator app, recovery codes and passkeys of an account; its sessions end and a mail tells it',
    )
    .argument('<user>', 'number or mail address')
    .option(...jsonOption)
    .action(async (wanted: string, flags: JsonFlag) => (await run()).runResetSecondFactor(env, wanted, flags));
  user
    .command('make-admin')
    .description('let an account administer the installation')
    .argument('<user>', 'number or mail address')
    .option('--remove', 'take that away')
    .option(...jsonOption)
    .action(async (wanted: string, flags: MakeAdminFlags) => (await run()).runMakeAdmin(env, wanted, flags));
  user
    .command('set-plan')
    .description('give an account another plan')
    .argument('<user>', 'number or mail address')
    .addArgument(new Argument('<plan>', 'name of the plan').choices(planNames))
    .option(...jsonOption)
    .action(async (wanted: string, plan: PlanName, flags: JsonFlag) =>
      (await run()).runSetPlan(env, wanted, plan, flags),
    );
}
