import { randomBytes } from 'node:crypto';
import { text as wholeText } from 'node:stream/consumers';
import { emailSchema, newPasswordSchema } from '@parallax/api-contract';
import { controlPlaneSettings, readSettings } from '@parallax/settings';
import type { Environment } from '@parallax/settings';
import { createLogger } from '@parallax/telemetry';
import { Argument, InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { UsageError } from './command-settings.ts';
import { withDatabase } from './database-for-command.ts';
import {
  findAccount,
  listAccounts,
  makeAccount,
  resetSecondFactor,
  setAdministrator,
  setPassword,
  setPlan,
} from './identity/accounts/index.ts';
import type { AccountRow } from './identity/accounts/index.ts';
import { createPasswordHasher, whyTooCommon } from './identity/auth/index.ts';
import { plans } from './identity/plans/index.ts';
import type { PlanName } from './identity/plans/index.ts';
import { openDatabase } from './platform/database/pools.ts';
import type { Database } from './platform/database/pools.ts';

type Json = { readonly json?: boolean };
type PasswordFlags = Json & { readonly passwordStdin?: boolean };

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
  user
    .command('list')
    .description('print all accounts')
    .option(...jsonOption)
    .action(({ json }: Json) =>
      withAccounts(env, async (database) => {
        const rows = await listAccounts(database.worker);
        print(json === true ? JSON.stringify(rows.map(shown), null, 2) : table(rows));
      }),
    );
  user
    .command('create')
    .description('make an account with its default workspace, whatever PARALLAX_REGISTRATION says')
    .argument('<email>', 'mail address', mailAddress)
    .option('--plan <plan>', `one of ${Object.keys(plans).join(', ')}; that of PARALLAX_DEFAULT_PLAN when absent`, plan)
    .option('--administrator', 'let it administer the installation; the first account does in any case')
    .option(...stdinOption)
    .option(...jsonOption)
    .action((email: string, flags: PasswordFlags & { plan?: PlanName; administrator?: boolean }) =>
      withAccounts(env, async (database, defaultPlan) => {
        const password = await chosenPassword(flags, email);
        const passwordHash = await createPasswordHasher().hash(password.text);
        const id = await makeAccount(database, { email, passwordHash, plan: flags.plan ?? defaultPlan });
        if (id === undefined) throw new UsageError(`there is an account with the address ${email} already`);
        if (flags.administrator === true) await setAdministrator(database.worker, id, true);
        tell(flags, { id, email, ...made(password) }, `made user ${id} (${email})`, password);
      }),
    );
  user
    .command('reset-password')
    .description('give an account a new password; its sessions end')
    .argument('<user>', 'number or mail address')
    .option(...stdinOption)
    .option(...jsonOption)
    .action((wanted: string, flags: PasswordFlags) =>
      withAccounts(env, async (database) => {
        const { id, email } = await accountOf(database, wanted);
        const password = await chosenPassword(flags, email ?? '');
        const ended = await setPassword(database.worker, id, await createPasswordHasher().hash(password.text));
        const text = `user ${id} (${email ?? 'no address'}) has a new password; sessions ended: ${ended}`;
        tell(flags, { id, email, ended_sessions: ended, ...made(password) }, text, password);
      }),
    );
  user
    .command('reset-second-factor')
    .description(
      'remove the authenticator app, recovery codes and passkeys of an account; its sessions end and a mail tells it',
    )
    .argument('<user>', 'number or mail address')
    .option(...jsonOption)
    .action((wanted: string, flags: Json) =>
      withAccounts(env, async (database) => {
        const { id, email } = await accountOf(database, wanted);
        const done = await resetSecondFactor(database.worker, id);
        if (done === undefined) {
          throw new UsageError(`a passkey is the only way into the account of user ${id}: give it a password first`);
        }
        const { removed, endedSessions } = done;
        const text = `user ${id} (${email ?? 'no address'}) has no second factor; removed: ${removed}, sessions ended: ${endedSessions}`;
        tell(flags, { id, email, removed, ended_sessions: endedSessions }, text);
      }),
    );
  user
    .command('make-admin')
    .description('let an account administer the installation')
    .argument('<user>', 'number or mail address')
    .option('--remove', 'take that away')
    .option(...jsonOption)
    .action((wanted: string, flags: Json & { remove?: boolean }) =>
      withAccounts(env, async (database) => {
        const { id, email } = await accountOf(database, wanted);
        const isAdministrator = flags.remove !== true;
        await setAdministrator(database.worker, id, isAdministrator);
        const what = isAdministrator ? 'administers the installation' : 'does not administer the installation';
        tell(flags, { id, email, is_administrator: isAdministrator }, `user ${id} ${what}`);
      }),
    );
  user
    .command('set-plan')
    .description('give an account another plan')
    .argument('<user>', 'number or mail address')
    .addArgument(new Argument('<plan>', 'name of the plan').choices(Object.keys(plans)))
    .option(...jsonOption)
    .action((wanted: string, chosen: PlanName, flags: Json) =>
      withAccounts(env, async (database) => {
        const { id, email } = await accountOf(database, wanted);
        await setPlan(database.worker, id, chosen);
        tell(flags, { id, email, plan: chosen }, `user ${id} has the plan ${chosen}`);
      }),
    );
}

async function withAccounts(
  env: Environment,
  work: (database: Database, defaultPlan: PlanName) => Promise<void>,
): Promise<void> {
  const settings = readSettings(controlPlaneSettings, env);
  const log = createLogger({
    name: 'control-plane',
    level: settings.logLevel === 'info' ? 'warn' : settings.logLevel,
    destination: process.stderr,
  });
  await withDatabase(settings, 'existing', log, async (found) => {
    const database = await openDatabase(await found.open(), { api: 1, worker: 2 });
    try {
      await work(database, settings.defaultPlan);
    } finally {
      await database.close();
    }
  });
}

async function accountOf(database: Database, wanted: string): Promise<AccountRow> {
  const id = /^[1-9]\d{0,8}$/.test(wanted) ? Number(wanted) : undefined;
  const found = await findAccount(database.worker, id === undefined ? { email: mailAddress(wanted) } : { id });
  if (found === null) throw new UsageError(`there is no user ${wanted}`);
  return found;
}

type ChosenPassword = { readonly text: string; readonly isMade: boolean };

/** From standard input without its last line end, or made: 120 random bits. */
async function chosenPassword(flags: PasswordFlags, email: string): Promise<ChosenPassword> {
  if (flags.passwordStdin !== true) return { text: randomBytes(15).toString('base64url'), isMade: true };
  const text = (await wholeText(process.stdin)).replace(/\r?\n$/, '');
  if (text.includes('\u0000')) throw new UsageError('the password has a NUL in it');
  const judged = newPasswordSchema.safeParse(text);
  const reason = judged.success ? whyTooCommon(text, email) : judged.error.issues[0]?.message;
  if (reason !== undefined) throw new UsageError(`the password ${reason}`);
  return { text, isMade: false };
}

const made = ({ text, isMade }: ChosenPassword) => (isMade ? { password: text } : {});

function tell(flags: Json, answer: Readonly<Record<string, unknown>>, text: string, password?: ChosenPassword): void {
  if (flags.json === true) return print(JSON.stringify(answer));
  print(text);
  if (password?.isMade === true) print(`password, shown only now: ${password.text}`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const shown = (row: AccountRow) => ({ ...row, created_at: iso(row.created_at), last_seen_at: iso(row.last_seen_at) });

function table(rows: readonly AccountRow[]): string {
  const lines = [
    ['ID', 'ADDRESS', 'NAME', 'PLAN', 'ADMINISTRATOR', 'MADE', 'LAST SEEN'],
    ...rows.map((row) => [
      String(row.id),
      row.email === null ? '-' : `${row.email}${row.email_verified ? '' : ' (not confirmed)'}`,
      row.display_name ?? '-',
      row.plan,
      row.is_administrator ? 'yes' : 'no',
      iso(row.created_at)?.slice(0, 10) ?? '-',
      iso(row.last_seen_at)?.slice(0, 16) ?? '-',
    ]),
  ];
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function mailAddress(text: string): string {
  const parsed = emailSchema.safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError('a mail address is expected');
  return parsed.data;
}

function plan(text: string): PlanName {
  if (!Object.hasOwn(plans, text))
    throw new InvalidArgumentError(`one of ${Object.keys(plans).join(', ')} is expected`);
  return text as PlanName;
}
