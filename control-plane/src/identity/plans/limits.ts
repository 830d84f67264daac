import { ExplainedError } from '../../platform/explained-error.ts';
import { perDay, perHour, perMinute } from '../../platform/http/rate-limits.ts';
import type { Rate } from '../../platform/http/rate-limits.ts';
import { plans } from './plans.ts';
import type { Plan, PlanName } from './plans.ts';

/** What a limit counts by: requests of a client are counted by IPv4 address or IPv6 /64. */
type CountedBy = 'address' | 'account' | 'account and address' | 'session' | 'workspace' | 'target';

type NamedLimit = {
  readonly rate: Rate;
  readonly countedBy: CountedBy;
  /** The route whose contract names the same number, where there is one. */
  readonly route?: string;
  readonly meaning: string;
};

/** Every rate limit beside those of the plans, by the name that `PARALLAX_LIMITS` knows it by: the only list. */
export const namedLimits = {
  register: {
    rate: perMinute(3),
    countedBy: 'address',
    route: 'POST /api/v1/auth/register',
    meaning: 'registrations',
  },
  login: { rate: perMinute(5), countedBy: 'address', route: 'POST /api/v1/auth/login', meaning: 'logins' },
  failed_login: {
    rate: perHour(20),
    countedBy: 'account and address',
    meaning: 'logins that failed; by address too, so that nobody is locked out by others',
  },
  confirmation_mail: {
    rate: perHour(3),
    countedBy: 'account',
    meaning: "mails that confirm an address, which may be anybody's",
  },
  password_again: {
    rate: perHour(20),
    countedBy: 'account',
    meaning: 'passwords that are asked for again',
  },
  refresh: { rate: perMinute(30), countedBy: 'session', meaning: 'new pairs of tokens' },
  forgot_password: {
    rate: perMinute(3),
    countedBy: 'address',
    route: 'POST /api/v1/auth/forgot-password',
    meaning: 'mails for a forgotten password that are asked for',
  },
  forgot_password_account: {
    rate: perHour(3),
    countedBy: 'account',
    meaning: 'mails for a forgotten password that are sent; what is above is not told',
  },
  second_factor: {
    rate: perMinute(5),
    countedBy: 'account and address',
    meaning: 'tries of a second factor; after ten wrong ones the pauses between tries grow from 30 seconds to an hour',
  },
  invite_mail: { rate: perHour(20), countedBy: 'account', meaning: 'mails that invite to a workspace' },
  invite_mail_to_address: {
    rate: perHour(5),
    countedBy: 'target',
    meaning:
      'mails that invite one address, whoever invites: nobody has their mailbox filled by many accounts together',
  },
  confirm_email: {
    rate: perMinute(10),
    countedBy: 'address',
    route: 'POST /api/v1/auth/confirm-email',
    meaning: 'mailed tokens that confirm an address',
  },
  reset_password: {
    rate: perMinute(10),
    countedBy: 'address',
    route: 'POST /api/v1/auth/reset-password',
    meaning: 'mailed tokens for a new password',
  },
  public_profile: {
    rate: perMinute(60),
    countedBy: 'address',
    route: 'GET /api/v1/users/:user_id',
    meaning: 'reads of public profiles',
  },
  invite_page: {
    rate: perMinute(30),
    countedBy: 'address',
    route: 'POST /invites',
    meaning: 'forms of the page of an invitation; those that register or sign in count as `register` and `login` too',
  },
  sign_in_ways: {
    rate: perMinute(60),
    countedBy: 'address',
    route: 'GET /api/v1/auth/ways',
    meaning: 'reads of the ways in',
  },
  provider_a_login: {
    rate: perMinute(30),
    countedBy: 'address',
    route: 'GET /api/v1/auth/identity-provider-a/login',
    meaning: 'sign-ins that begin at identity provider a',
  },
  provider_a_callback: {
    rate: perMinute(30),
    countedBy: 'address',
    route: 'GET /api/v1/auth/identity-provider-a/callback',
    meaning: 'sign-ins that come back from identity provider a',
  },
  provider_b_login: {
    rate: perMinute(30),
    countedBy: 'address',
    route: 'GET /api/v1/auth/identity-provider-b/login',
    meaning: 'sign-ins that begin at identity provider b',
  },
  provider_b_callback: {
    rate: perMinute(30),
    countedBy: 'address',
    route: 'GET /api/v1/auth/identity-provider-b/callback',
    meaning: 'sign-ins that come back from identity provider b',
  },
  messenger_login: {
    rate: perMinute(5),
    countedBy: 'address',
    route: 'POST /api/v1/auth/messenger/login',
    meaning: 'sign-ins by the messenger login widget',
  },
  messenger_webapp: {
    rate: perMinute(5),
    countedBy: 'address',
    route: 'POST /api/v1/auth/messenger/webapp',
    meaning: 'sign-ins by the messenger mini app',
  },
  second_factor_verify: {
    rate: perMinute(20),
    countedBy: 'address',
    route: 'POST /api/v1/auth/mfa/verify',
    meaning: 'second factors that are shown, of whatever account',
  },
  passkey_options: {
    rate: perMinute(20),
    countedBy: 'address',
    route: 'POST /api/v1/auth/mfa/passkey-options',
    meaning: 'questions to passkeys as second factors',
  },
  passkey_begin: {
    rate: perMinute(20),
    countedBy: 'address',
    route: 'POST /api/v1/auth/passkey/begin',
    meaning: 'sign-ins by a passkey that begin',
  },
  passkey_sign_in: {
    rate: perMinute(5),
    countedBy: 'address',
    route: 'POST /api/v1/auth/passkey/finish',
    meaning: 'sign-ins by a passkey',
  },
  probe_addresses: {
    rate: perMinute(60),
    countedBy: 'address',
    route: 'GET /api/v1/probe/ips',
    meaning: 'reads of the addresses of probes; `/probe/ips` at the root counts for itself',
  },
  ping: {
    rate: perMinute(60),
    countedBy: 'target',
    meaning: 'signals of one heartbeat; as many more that change its state',
  },
  unknown_ping: {
    rate: perMinute(60),
    countedBy: 'address',
    meaning: 'signals for what is not there, or with a wrong secret',
  },
  heartbeat_made_by_ping: {
    rate: perHour(100),
    countedBy: 'workspace',
    meaning: 'heartbeats that are made by their first signal (`create=1`)',
  },
  maintenance_calendar: {
    rate: perMinute(60),
    countedBy: 'address',
    route: 'GET /api/v1/public/maintenance/:token',
    meaning: 'reads of calendars of maintenance',
  },
  alert_link_page: {
    rate: perMinute(60),
    countedBy: 'address',
    route: 'GET /alerts/snooze/:token',
    meaning: 'reads of pages that messages of alerts lead to',
  },
  alert_link: {
    rate: perMinute(60),
    countedBy: 'address',
    route: 'POST /alerts/snooze/:token',
    meaning: 'buttons of those pages',
  },
  webhook_delivery: {
    rate: perMinute(300),
    countedBy: 'target',
    meaning: 'deliveries to one webhook check that are signed as it asks',
  },
  unconfirmed_test: {
    rate: perHour(10),
    countedBy: 'account',
    meaning: 'checks by hand and test messages together, of an account whose mail address is not confirmed',
  },
  channel_test: { rate: perHour(10), countedBy: 'account', meaning: 'test messages by alert channels' },
  channel_test_to_target: {
    rate: perHour(3),
    countedBy: 'target',
    meaning: 'test messages to one address, chat or number, whoever sends them',
  },
  feedback: { rate: perDay(10), countedBy: 'account', meaning: 'items of feedback' },
  webhook_test: { rate: perHour(60), countedBy: 'account', meaning: 'tests of webhooks' },
  scheduled_report_run: {
    rate: perHour(10),
    countedBy: 'account',
    meaning: 'scheduled reports that are made by hand',
  },
  report_link_page: {
    rate: perMinute(60),
    countedBy: 'address',
    route: 'GET /api/v1/public/reports/:token',
    meaning: 'pages of links in mails of reports',
  },
  report_link_action: {
    rate: perMinute(60),
    countedBy: 'address',
    route: 'POST /api/v1/public/reports/:token',
    meaning: 'reports that are ended, or begun again, by such links',
  },
  page_subscribe: {
    rate: perHour(10),
    countedBy: 'address',
    meaning: 'subscriptions to status pages that are asked for',
  },
  page_subscribe_to_target: {
    rate: perHour(5),
    countedBy: 'target',
    meaning: 'the same for one address, whoever asks and for whatever page; what is above is not told',
  },
  page_subscription: {
    rate: perMinute(60),
    countedBy: 'address',
    route: 'GET /status/:slug/subscription/:token',
    meaning: 'pages of links in messages to subscribers of status pages',
  },
  page_subscription_action: {
    rate: perMinute(60),
    countedBy: 'address',
    route: 'POST /status/:slug/subscription/:token',
    meaning: 'subscriptions that are confirmed, changed or ended by such links',
  },
  channel_confirmation: {
    rate: perHour(10),
    countedBy: 'account',
    meaning: 'mails that ask whether alerts may be sent to an address',
  },
  channel_confirmation_to_target: {
    rate: perHour(3),
    countedBy: 'target',
    meaning: 'the same to one address, whoever asks',
  },
  mail_alerts_page: {
    rate: perMinute(60),
    countedBy: 'address',
    route: 'GET /api/v1/public/mail-alerts/:token',
    meaning: 'pages of links in alert mails',
  },
  mail_alerts_action: {
    rate: perMinute(60),
    countedBy: 'address',
    route: 'POST /api/v1/public/mail-alerts/:token',
    meaning: 'addresses that are confirmed or unsubscribed by such links',
  },
  webhook_refused: {
    rate: perMinute(60),
    countedBy: 'address',
    meaning: 'deliveries that are refused; those that are signed as their check asks are taken all the same',
  },
  messenger_link: {
    rate: perHour(20),
    countedBy: 'account',
    meaning: 'links that bring a person or a group to the bot',
  },
  messenger_refused: {
    rate: perMinute(60),
    countedBy: 'address',
    meaning: 'updates of the messenger that do not prove to be its own',
  },
  status_page_password: {
    rate: perMinute(5),
    countedBy: 'address',
    meaning: 'wrong passwords of one private status page, whichever way they come; counted by each process for itself',
  },
  status_page_link: {
    rate: perHour(10),
    countedBy: 'address',
    meaning: 'mails that are asked for with a link to a private status page',
  },
  status_page_unlock: {
    rate: perMinute(60),
    countedBy: 'address',
    route: 'POST /status/:slug/unlock',
    meaning: 'forms of private status pages',
  },
  status_page_unlock_link: {
    rate: perMinute(30),
    countedBy: 'address',
    route: 'POST /status/:slug/unlock/:token',
    meaning: 'buttons of pages that such links lead to',
  },
  team_chat_webhook: {
    rate: perMinute(30),
    countedBy: 'address',
    route: 'GET /api/v1/auth/team-chat/webhook',
    meaning: 'rooms of the team chat that begin to be connected',
  },
  team_chat_callback: {
    rate: perMinute(30),
    countedBy: 'address',
    route: 'GET /api/v1/auth/team-chat/webhook/callback',
    meaning: 'browsers that come back from the team chat',
  },
} as const satisfies Record<string, NamedLimit>;

export type LimitName = keyof typeof namedLimits;

/** Numbers of plans that may be set; how long results are kept is not among them, since a smaller number would delete. */
const planNumbers = [
  'requests_per_hour',
  'requests_per_minute',
  'minimum_interval_seconds',
  'alert_channels',
  'page_subscribers',
] as const;
type PlanNumber = (typeof planNumbers)[number];

/** What the owner of workspaces may have until the own mail address is confirmed. */
const unconfirmed = {
  monitors: 3,
  heartbeats: 3,
  webhook_checks: 3,
  minimum_interval_seconds: 300,
  mailed_addresses: 0,
  published_pages: 0,
} as const;
type UnconfirmedNumber = keyof typeof unconfirmed;

/** Every name that `PARALLAX_LIMITS` may give a number. */
export const limitNames: readonly string[] = [
  ...Object.keys(plans).flatMap((plan) => planNumbers.map((number) => `${plan}.${number}`)),
  ...Object.keys(unconfirmed).map((number) => `unconfirmed.${number}`),
  ...Object.keys(namedLimits),
];

/** The limits of this process: those of the product, with what the operator has set. */
export type Limits = {
  readonly plan: (name: PlanName) => Plan;
  /** What owners may have whose mail address is not confirmed; undefined: not limited. */
  readonly unconfirmed: Readonly<Record<Exclude<UnconfirmedNumber, 'minimum_interval_seconds'>, number | undefined>> & {
    readonly minimumIntervalSeconds: number;
  };
  readonly rate: (name: LimitName) => Rate;
  /** The rate per client address of a route whose contract names one. */
  readonly ofRoute: (route: { readonly method: string; readonly path: string }, quota: number) => Rate;
};

/** A number that was set does not fit. */
export class LimitsError extends ExplainedError {
  override readonly name = 'LimitsError';
}

/**
 * @param given names and numbers as `PARALLAX_LIMITS` has them; null: no limit
 * @throws LimitsError that lists every number that does not fit
 */
export function limitsWith(given: Readonly<Record<string, number | null>> = {}): Limits {
  const faults = Object.entries(given).flatMap(([name, value]) => faultOf(name, value));
  if (faults.length > 0)
    throw new LimitsError(`PARALLAX_LIMITS is wrong:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
  const changed = Object.fromEntries(
    Object.entries<Plan>(plans).map(([name, plan]) => [name, planWith(plan, (number) => given[`${name}.${number}`])]),
  ) as Record<PlanName, Plan>;
  const rate = (name: LimitName): Rate => {
    const { rate: own }: NamedLimit = namedLimits[name];
    return { ...own, quota: given[name] ?? own.quota };
  };
  const byRoute = new Map(
    Object.entries<NamedLimit>(namedLimits).flatMap(([name, { route }]) =>
      route === undefined ? [] : [[route, name as LimitName]],
    ),
  );
  const ofUnconfirmed = (number: UnconfirmedNumber): number | undefined => {
    const value = given[`unconfirmed.${number}`];
    return value === undefined ? unconfirmed[number] : (value ?? undefined);
  };
  return {
    plan: (name) => changed[name],
    unconfirmed: {
      monitors: ofUnconfirmed('monitors'),
      heartbeats: ofUnconfirmed('heartbeats'),
      webhook_checks: ofUnconfirmed('webhook_checks'),
      mailed_addresses: ofUnconfirmed('mailed_addresses'),
      published_pages: ofUnconfirmed('published_pages'),
      minimumIntervalSeconds: ofUnconfirmed('minimum_interval_seconds') ?? 1,
    },
    rate,
    ofRoute: ({ method, path }, quota) => {
      const name = byRoute.get(`${method} ${path}`);
      return name === undefined ? perMinute(quota) : rate(name);
    },
  };
}

function planWith(plan: Plan, given: (number: PlanNumber) => number | null | undefined): Plan {
  const perHourGiven = given('requests_per_hour');
  const perMinuteGiven = given('requests_per_minute');
  const channels = given('alert_channels');
  const subscribers = given('page_subscribers');
  // A plan that caps requests caps them by both; one of the two alone leaves the other out of reach.
  const outOfReach = 1_000_000_000;
  const hourly = perHourGiven === undefined ? plan.requests?.perHour : (perHourGiven ?? undefined);
  const minutely = perMinuteGiven === undefined ? plan.requests?.perMinute : (perMinuteGiven ?? undefined);
  return {
    ...plan,
    minimumIntervalSeconds: given('minimum_interval_seconds') ?? plan.minimumIntervalSeconds,
    requests:
      hourly === undefined && minutely === undefined
        ? undefined
        : { perHour: hourly ?? outOfReach, perMinute: minutely ?? outOfReach },
    alertChannels: channels === undefined ? plan.alertChannels : (channels ?? undefined),
    pageSubscribers: subscribers === undefined ? plan.pageSubscribers : (subscribers ?? undefined),
  };
}

function faultOf(name: string, value: number | null): string[] {
  if (name === 'unconfirmed.mailed_addresses' || name === 'unconfirmed.published_pages')
    return value === null || value === 0 ? [] : [`${name} must be 0, or unlimited`];
  if (!limitNames.includes(name)) return [`${name} is not known; known are ${limitNames.join(', ')}`];
  if (name.endsWith('.minimum_interval_seconds')) {
    return value !== null && value >= 1 && value <= 86_400
      ? []
      : [`${name} must be a number of seconds from 1 to 86400`];
  }
  if (!name.includes('.')) return value !== null && value >= 1 ? [] : [`${name} must be 1 or more`];
  if (name.endsWith('.alert_channels') || name.endsWith('.page_subscribers')) return [];
  return value === null || value >= 1 ? [] : [`${name} must be 1 or more, or unlimited`];
}
