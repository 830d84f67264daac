import { randomBytes } from 'node:crypto';
import { text as wholeText } from 'node:stream/consumers';
import { emailSchema, newPasswordSchema } from '@parallax/api-contract';
import { controlPlaneSettings, readSettings } from '@parallax/settings';
import type { Environment } from '@parallax/settings';
import {
  findAccount,
  listAccounts,
  makeAccount,
  resetSecondFactor,
  setAdministrator,
  setPassword,
  setPlan,
} from '../identity/accounts/index.ts';
import type { AccountRow } from '../identity/accounts/index.ts';
import { createPasswordHasher, whyTooCommon } from '../identity/auth/index.ts';
import type { PlanName } from '../identity/plans/index.ts';
import { openDatabase } from '../platform/database/pools.ts';
import type { Database } from '../platform/database/pools.ts';
import { commandLog } from './command-log.ts';
import { withDatabase } from './database-for-command.ts';
import { print } from './print.ts';
import { UsageError } from './usage-error.ts';

export type JsonFlag = { readonly json?: boolean };
export type PasswordFlags = JsonFlag & { readonly passwordStdin?: boolean };
export type CreateFlags = PasswordFlags & { readonly plan?: PlanName; readonly administrator?: boolean };
export type MakeAdminFlags = JsonFlag & { readonly remove?: boolean };

export function runList(env: Environment, { json }: JsonFlag): Promise<void> {
  return withAccounts(env, async (database) => {
    const rows = await listAccounts(database.worker);
    print(json === true ? JSON.stringify(rows.map(shown), null, 2) : table(rows));
  });
}

export function runCreate(env: Environment, given: string, flags: CreateFlags): Promise<void> {
  const email = mailAddress(given);
  return withAccounts(env, async (database, defaultPlan) => {
    const password = await chosenPassword(flags, email);
    const passwordHash = await createPasswordHasher().hash(password.text);
    const id = await makeAccount(database, { email, passwordHash, plan: flags.plan ?? defaultPlan });
    if (id === undefined) throw new UsageError(`there is an account with the address ${email} already`);
    if (flags.administrator === true) await setAdministrator(database.worker, id, true);
    tell(flags, { id, email, ...made(password) }, `made user ${id} (${email})`, password);
  });
}

export function runResetPassword(env: Environment, wanted: string, flags: PasswordFlags): Promise<void> {
  return withAccounts(env, async (database) => {
    const { id, email } = await accountOf(database, wanted);
    const password = await chosenPassword(flags, email ?? '');
    const ended = await setPassword(database.worker, id, await createPasswordHasher().hash(password.text));
    const text = `user ${id} (${email ?? 'no address'}) has a new password; sessions ended: ${ended}`;
    tell(flags, { id, email, ended_sessions: ended, ...made(password) }, text, password);
  });
}

export function runResetSecondFactor(env: Environment, wanted: string, flags: JsonFlag): Promise<void> {
  return withAccounts(env, async (database) => {
    const { id, email } = await accountOf(database, wanted);
    const done = await resetSecondFactor(database.worker, id);
    if (done === undefined) {
      throw new UsageError(`a passkey is the only way into the account of user ${id}: give it a password first`);
    }
    const { removed, endedSessions } = done;
    const text = `user ${id} (${email ?? 'no address'}) has no second factor; removed: ${removed}, sessions ended: ${endedSessions}`;
    tell(flags, { id, email, removed, ended_sessions: endedSessions }, text);
  });
}

export function runMakeAdmin(env: Environment, wanted: string, flags: MakeAdminFlags): Promise<void> {
  return withAccounts(env, async (database) => {
    const { id, email } = await accountOf(database, wanted);
    const isAdministrator = flags.remove !== true;
    await setAdministrator(database.worker, id, isAdministrator);
    const what = isAdministrator ? 'administers the installation' : 'does not administer the installation';
    tell(flags, { id, email, is_administrator: isAdministrator }, `user ${id} ${what}`);
  });
}

export function runSetPlan(env: Environment, wanted: string, plan: PlanName, flags: JsonFlag): Promise<void> {
  return withAccounts(env, async (database) => {
    const { id, email } = await accountOf(database, wanted);
    await setPlan(database.worker, id, plan);
    tell(flags, { id, email, plan }, `user ${id} has the plan ${plan}`);
  });
}

async function withAccounts(
  env: Environment,
  work: (database: Database, defaultPlan: PlanName) => Promise<void>,
): Promise<void> {
  const settings = readSettings(controlPlaneSettings, env);
  await withDatabase(settings, 'existing', commandLog(settings), async (found) => {
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

function tell(
  flags: JsonFlag,
  answer: Readonly<Record<string, unknown>>,
  text: string,
  password?: ChosenPassword,
): void {
  if (flags.json === true) return print(JSON.stringify(answer));
  print(text);
  if (password?.isMade === true) print(`password, shown only now: ${password.text}`);
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
  if (!parsed.success) throw new UsageError(`a mail address is expected, not ${JSON.stringify(text)}`);
  return parsed.data;
}
