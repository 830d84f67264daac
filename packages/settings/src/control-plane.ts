import { z } from 'zod';
import { defineSettings, type SettingsOf } from './define.ts';
import {
  addressList,
  basePath,
  frontend,
  host,
  hostAndPort,
  hosts,
  hostsAndPorts,
  integer,
  issuer,
  key256,
  listOf,
  nameServers,
  networks,
  numbersByName,
  origins,
  port,
  text,
  url,
  urlsByName,
} from './values.ts';

export const controlPlaneRoles = ['api', 'dispatch', 'ingest', 'worker'] as const;
export type ControlPlaneRole = (typeof controlPlaneRoles)[number];

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Every variable of the control plane. `PARALLAX_PROBE_…` belongs to the agent and is left alone. */
export const controlPlaneSettings = defineSettings(
  {
    HTTP_HOST: {
      schema: host,
      default: '127.0.0.1',
      meaning: 'address of the REST API, console, status pages and public endpoints',
    },
    HTTP_PORT: { schema: port, default: '8080', meaning: 'port of the same' },
    GRPC_HOST: {
      schema: host,
      default: '127.0.0.1',
      meaning: 'address of probe sessions (mutual TLS) and of enrolment',
    },
    GRPC_PORT: { schema: port, default: '9443', meaning: 'port of probe sessions' },
    ENROLMENT_PORT: { schema: port, default: '9444', meaning: 'port of enrolment (server TLS only)' },
    NATS_HOST: { schema: host, default: '127.0.0.1', meaning: 'address of the nats-server that is started beside it' },
    NATS_PORT: { schema: port, default: '4222', meaning: 'port of the same' },
    NATS_SERVER: {
      schema: text,
      defaultMeaning: 'found on the PATH, in `/usr/sbin` or in the data folder',
      meaning: 'path of the nats-server binary, 2.9.10 or newer; 2.12 or newer is maintained by its makers',
    },
    PUBLIC_ADDRESS: {
      schema: addressList,
      defaultMeaning: 'those that the kernel routes connections from',
      meaning:
        "comma-separated addresses that `/probe/ips` lists for the control plane's own checks and webhooks, for one behind NAT",
    },
    GRPC_PUBLIC_ADDRESS: {
      schema: hostAndPort,
      defaultMeaning: 'host and port',
      meaning: 'where probes elsewhere dial for their session',
    },
    ENROLMENT_PUBLIC_ADDRESS: {
      schema: hostAndPort,
      defaultMeaning: 'host and port',
      meaning: 'where probes elsewhere dial to enrol; enrolment answers all three addresses',
    },
    NATS_PUBLIC_ADDRESS: {
      schema: hostAndPort,
      defaultMeaning: 'host and port',
      meaning: 'where probes elsewhere dial to publish results',
    },
    PUBLIC_URL: {
      schema: url('http', 'https'),
      defaultMeaning: 'from host and port',
      meaning: 'what links begin with',
    },
    FRONTEND_URL: {
      schema: frontend,
      defaultMeaning: "unset: the product's own page",
      meaning:
        'address of the front end: a sign-in at a provider ends at its `/auth/complete`, with the tokens in the fragment, and the page of an invitation links to it; https, or http on loopback. It calls the API from a browser when `CORS_ORIGINS` has its origin',
    },
    TRUSTED_PROXIES: { schema: networks, defaultMeaning: 'none', meaning: 'CIDRs whose forwarded headers count' },
    ALLOWED_HOSTS: {
      schema: hosts,
      defaultMeaning: 'none',
      meaning:
        'comma-separated hosts, without ports, that requests may name in their header `Host` beside loopback, the host of the public URL and the address that was dialled; any other is answered 421',
    },
    CORS_ORIGINS: {
      schema: origins,
      defaultMeaning: 'none',
      meaning:
        'comma-separated origins (`https://console.example.com`) whose pages may call the API from a browser, compared whole',
    },
    BASE_PATH: { schema: basePath, default: '/', meaning: 'path that everything is served below' },
    DATA_DIR: {
      schema: text,
      defaultMeaning:
        '`./data`, or a folder for this checkout under `/var/lib/parallax` (printed) where another account could not reach it',
      meaning: 'embedded database, nats-server store, keys',
    },
    DATABASE_URL: {
      schema: url('postgresql', 'postgres'),
      secret: true,
      defaultMeaning: 'unset: embedded PostgreSQL',
      meaning: 'PostgreSQL 15 or newer, as the role that owns the schema and runs migrations',
    },
    DATABASE_API_URL: {
      schema: url('postgresql', 'postgres'),
      secret: true,
      defaultMeaning: 'the role `parallax_api` at the same place',
      meaning: 'the same database as the role of requests, which cannot bypass row-level security',
    },
    DATABASE_WORKER_URL: {
      schema: url('postgresql', 'postgres'),
      secret: true,
      defaultMeaning: 'the role `parallax_worker` at the same place',
      meaning: 'the same database as the role of ingest and workers',
    },
    NATS_URL: {
      schema: url('nats', 'tls'),
      defaultMeaning: 'unset: a nats-server started beside it',
      meaning: 'an external nats-server or cluster in operator mode',
    },
    NATS_ACCOUNT: {
      schema: z.string().regex(/^A[A-Z2-7]{55}$/, 'expected the public key of an account, `A…`'),
      meaning:
        'public key of the account that Parallax has in an external nats-server whose operator is somebody else; needs `NATS_ACCOUNT_SIGNING_KEY`',
    },
    NATS_ACCOUNT_SIGNING_KEY: {
      schema: text,
      secret: true,
      meaning: 'seed of a signing key of that account, which signs the credentials of the control plane',
    },
    NATS_PROBE_ACCOUNT: {
      schema: z.string().regex(/^A[A-Z2-7]{55}$/, 'expected the public key of an account, `A…`'),
      meaning:
        'public key of another account there, for probes: without JetStream, and importing `results.*.*` as a service, which `NATS_ACCOUNT` exports. Unset: probes are users of ' +
        '`NATS_ACCOUNT`, and one that was broken into could empty the stream of results',
    },
    NATS_PROBE_ACCOUNT_SIGNING_KEY: {
      schema: text,
      secret: true,
      meaning: 'seed of a signing key of that account, which signs the credentials of probes',
    },
    NATS_OPERATOR_SIGNING_KEY: {
      schema: text,
      secret: true,
      meaning:
        'seed of a signing key of its operator; without it a revoked probe keeps its access to the broker for up to a day',
    },
    NATS_SYSTEM_CREDENTIALS: {
      schema: z.string().min(1).max(16_384),
      secret: true,
      meaning: 'credentials of a user of its system account, which brings revocations into the account',
    },
    KEY_ENCRYPTION_KEY: {
      schema: key256,
      secret: true,
      defaultMeaning: 'made in the data folder',
      meaning: "32 bytes (base64 or hexadecimal) that seal secrets, the authority's key and signing keys in PostgreSQL",
    },
    KEY_ENCRYPTION_KEY_PREVIOUS: {
      schema: key256,
      secret: true,
      defaultMeaning: 'unset',
      meaning:
        'the key before this one, while the key is exchanged: set both everywhere, run `control-plane keys rotate`, then remove it',
    },
    ROLES: {
      schema: listOf(controlPlaneRoles),
      default: controlPlaneRoles.join(','),
      meaning: 'which roles this process runs',
    },
    SHARDS: { schema: integer(1, 64), default: '1', meaning: 'shards of the ingest, fixed at installation' },
    LOCAL_PROBES: {
      schema: integer(0, 64),
      defaultMeaning: '`1` under `npm start`, else `0`',
      meaning: 'local probe agents to run beside the control plane, named `local-1`, `local-2` …',
    },
    DEFAULT_PLAN: {
      schema: z.enum(['free', 'paid', 'self_hosted']),
      default: 'self_hosted',
      meaning: 'plan of new accounts: `free`, `paid`, `self_hosted`; a hosted service sets `free`',
    },
    REGISTRATION: {
      schema: z.enum(['open', 'invite', 'closed']),
      defaultMeaning: '`open`, and `invite` once the installation is published (docs/publishing.md)',
      meaning: 'who may register after the first account: `open`, `invite`, `closed`',
    },
    LIMITS: {
      schema: numbersByName,
      defaultMeaning: 'none',
      meaning:
        'limits that are to be others than those of the product, comma-separated: `free.requests_per_hour=200,login=10,paid.alert_channels=unlimited`; the names are in docs/limits.md',
    },
    ALLOWED_PRIVATE_TARGETS: {
      schema: networks,
      defaultMeaning: 'none',
      meaning:
        "CIDRs that checks of every workspace may reach although they are not public, or `none`; the product's own listeners stay denied (docs/publishing.md)",
    },
    ADMINISTRATOR_PRIVATE_TARGETS: {
      schema: networks,
      defaultMeaning:
        'loopback and private ranges under `npm start` while the installation is not published and `PARALLAX_ALLOWED_PRIVATE_TARGETS` is unset, else none',
      meaning:
        'CIDRs that the checks of the control plane may reach for workspaces of administrators, beside those of `PARALLAX_ALLOWED_PRIVATE_TARGETS`',
    },
    ALLOWED_PRIVATE_HOOKS: {
      schema: networks,
      defaultMeaning: 'none',
      meaning:
        'CIDRs that messages of alert channels (webhooks, web push and services that tenants name) may reach although they are not public',
    },
    CANARIES: {
      schema: hostsAndPorts,
      defaultMeaning: 'none',
      meaning:
        "comma-separated `host:port` that are dialled by TCP before a failed check of the control plane's own counts: when they and the default gateway all fail, the fault is its own",
    },
    DNS_SERVERS: {
      schema: nameServers,
      defaultMeaning: 'those of the system',
      meaning:
        'comma-separated `address` or `address:port` of the name servers that are asked for the proofs of domains of status pages',
    },
    SMTP_URL: {
      schema: url('smtp', 'smtps'),
      secret: true,
      defaultMeaning: 'unset: mails are files in `mails/` of the data folder, and lines in the log',
      meaning:
        'server that sends mail: `smtp://user:password@host:587` with STARTTLS, `smtps://…:465` with TLS from the start; STARTTLS is required except on loopback, `?tls=offered` or `?tls=none` say otherwise, `?ca=FILE` trusts an own authority',
    },
    MAIL_FROM: {
      schema: text,
      defaultMeaning: '`Parallax <parallax@localhost>`',
      meaning: 'sender of mail, `address` or `Name <address>`; needed with `SMTP_URL`',
    },
    IDENTITY_PROVIDER_A_ISSUER: {
      schema: issuer,
      defaultMeaning: 'unset: no such provider',
      meaning:
        'OpenID Connect issuer that people may sign in with; https, or http on loopback. Its callback is `<public URL>/api/v1/auth/identity-provider-a/callback`',
    },
    IDENTITY_PROVIDER_A_CLIENT_ID: { schema: text, meaning: 'what the same provider knows this installation by' },
    IDENTITY_PROVIDER_A_CLIENT_SECRET: { schema: text, secret: true, meaning: 'its secret there' },
    IDENTITY_PROVIDER_A_NAME: {
      schema: text,
      defaultMeaning: 'the host of the issuer',
      meaning: 'name of the same provider, as people read it',
    },
    IDENTITY_PROVIDER_B_ISSUER: {
      schema: issuer,
      defaultMeaning: 'unset: no such provider',
      meaning: 'a second issuer, with its callback at `…/identity-provider-b/callback`',
    },
    IDENTITY_PROVIDER_B_CLIENT_ID: { schema: text, meaning: 'what the second provider knows this installation by' },
    IDENTITY_PROVIDER_B_CLIENT_SECRET: { schema: text, secret: true, meaning: 'its secret there' },
    IDENTITY_PROVIDER_B_NAME: {
      schema: text,
      defaultMeaning: 'the host of the issuer',
      meaning: 'name of the second provider, as people read it',
    },
    MESSENGER_BOT_TOKEN: {
      schema: z
        .string()
        .regex(/^[0-9]{1,20}:[A-Za-z0-9_-]{20,100}$/, 'expected the token of a Telegram bot, `<number>:<secret>`'),
      secret: true,
      defaultMeaning: 'unset: nobody signs in by the messenger',
      meaning: 'token of the Telegram bot whose login widget and mini app people sign in with',
    },
    CHANNEL_BASE_URLS: {
      schema: urlsByName,
      defaultMeaning: 'those of the services',
      meaning:
        'comma-separated `channel=URL` for alert channels whose service is elsewhere, such as a gateway of your own: `pushover=https://push.example.com`; they are trusted and may be private; the names are in docs/channels.md',
    },
    TEAM_CHAT_CLIENT_ID: {
      schema: text,
      defaultMeaning: 'unset: rooms of the team chat are connected by pasting their webhook',
      meaning:
        'what Slack knows this installation by; with it people connect rooms by its page of consent. The redirect URL of the app is `<public URL>/api/v1/auth/team-chat/webhook/callback`, its scope `incoming-webhook`',
    },
    TEAM_CHAT_CLIENT_SECRET: { schema: text, secret: true, meaning: 'its secret there' },
    TEAM_CHAT_URL: {
      schema: url('https', 'http'),
      default: 'https://slack.com',
      meaning: 'where the pages and methods of the same are',
    },
    LOG_LEVEL: {
      schema: z.enum(logLevels),
      default: 'info',
      meaning: `least severe line that is logged: ${logLevels.join(', ')}`,
    },
    METRICS_HOST: {
      schema: host,
      default: '127.0.0.1',
      meaning:
        'address of `/metrics`, `/health/liveness` and `/health/readiness`, which anybody who reaches it may ask',
    },
    METRICS_PORT: {
      schema: port,
      defaultMeaning: 'off',
      meaning: 'port of the same; a process without the role `api` says nowhere else whether it is well',
    },
    TOKEN: {
      schema: z.string().min(1).max(4_096),
      secret: true,
      meaning: 'personal access token or API key of the commands `export` and `apply`; what serves does not use it',
    },
  },
  { foreignPrefixes: ['PARALLAX_PROBE_'] },
);

export type ControlPlaneSettings = SettingsOf<typeof controlPlaneSettings>;

/** What `npm start` allows as targets of checks on one's own machine: loopback and the private ranges of RFC 1918 and RFC 4193. */
export const localTargets: readonly string[] = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
];
