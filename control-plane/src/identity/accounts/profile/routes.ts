import {
  changeLocaleRoute,
  changeMeRoute,
  changeTimezoneRoute,
  invalidInput,
  Problem,
  publicProfileRoute,
} from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { requireMatch } from '../../../platform/http/etag.ts';
import { recordAudit } from '../../audit/index.ts';
import { readUser, userAnswer } from '../../auth/index.ts';
import type { UserRow } from '../../auth/index.ts';
import { lockAccount } from '../queries.ts';
import { changeProfile, databaseTimezones, findPublicProfile } from './queries.ts';
import type { ProfileChange } from './queries.ts';
import { knownTimezone } from './timezones.ts';

/** What a user says of themselves, and what others see of it. */
export function profileRoutes(context: Context): readonly Route[] {
  return [
    handle(changeMeRoute, async ({ body, caller, request }) =>
      userAnswer(await change(context, caller, body, request)),
    ),
    handle(changeLocaleRoute, async ({ body, caller, request }) => {
      const { locale } = await change(context, caller, body, request);
      return { message: `the language is ${locale}` };
    }),
    handle(changeTimezoneRoute, async ({ body, caller, request }) => {
      const { timezone } = await change(context, caller, body, request);
      return { message: `the time zone is ${timezone}` };
    }),
    handle(publicProfileRoute, async ({ params }) => {
      const found = await findPublicProfile(context.database.api, params.user_id);
      if (found.user_id === null) throw new Problem('not_found', `there is no user ${params.user_id}`);
      return { id: found.user_id, display_name: found.display_name ?? `User ${found.user_id}` };
    }),
  ];
}

async function change(
  context: Context,
  caller: Caller,
  wanted: ProfileChange,
  request: RequestFacts,
): Promise<UserRow> {
  const scope = scopeOf(caller);
  const timezone = wanted.timezone === undefined ? undefined : await requireTimezone(context, wanted.timezone);
  const change: ProfileChange = { ...wanted, timezone };
  const fields = (['display_name', 'locale', 'timezone'] as const).filter((field) => change[field] !== undefined);
  return inScope(context.database.api, scope, async (transaction) => {
    await lockAccount(scope, transaction);
    requireMatch(request.header('if-match'), (await readUser(scope, transaction)).version);
    if (fields.length > 0) {
      await changeProfile(scope, transaction, change);
      const event = { action: 'user.changed', subjectType: 'user', subjectId: caller.userId };
      await recordAudit(transaction, caller, request, { ...event, detail: { fields } });
    }
    return readUser(scope, transaction);
  });
}

async function requireTimezone(context: Context, text: string): Promise<string> {
  const name = knownTimezone(text, await databaseTimezones(context.database.api));
  if (name !== undefined) return name;
  throw invalidInput('body', '/timezone', 'unknown_timezone', 'must be an IANA time zone such as Europe/Berlin');
}
