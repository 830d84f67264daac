import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { logLevels } from './control-plane.ts';
import { defineSettings, type SettingsOf } from './define.ts';
import { absolutePaths, addressList, hostAndPort, hostsAndPorts, integer, networks, port, text } from './values.ts';

const address = z.string().refine((value) => ipaddr.isValid(value), { error: 'expected an IPv4 or IPv6 address' });

/** Every variable of the probe agent; each is also a flag of the same name (`--control-plane`). */
export const agentSettings = defineSettings(
  {
    CONTROL_PLANE: { schema: hostAndPort, meaning: 'enrolment address of the control plane, `host:port`' },
    JOIN_TOKEN: { schema: text, secret: true, meaning: 'one-time token that registers this probe' },
    NAME: {
      schema: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'expected 1 to 63 letters, digits, dots, hyphens or underscores'),
      defaultMeaning: 'from the join token',
      meaning: 'name of this probe; must be the name that the join token was made for',
    },
    REGION: {
      schema: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'expected 1 to 63 letters, digits, dots, hyphens or underscores'),
      defaultMeaning: 'from the join token',
      meaning: 'region of this probe; must be the region that the join token was made for',
    },
    STATE_DIR: {
      schema: text,
      default: './probe-state',
      meaning: 'key, certificates, assignments and the log of results',
    },
    SOURCE_ADDRESS: {
      schema: address,
      defaultMeaning: "the system's choice",
      meaning: 'local address that checks leave from',
    },
    PUBLIC_ADDRESS: {
      schema: addressList,
      defaultMeaning: 'those that the kernel routes checks from',
      meaning: 'comma-separated addresses that `/probe/ips` lists for this probe, for one behind NAT',
    },
    MAX_IN_FLIGHT: {
      schema: integer(1, 100_000),
      default: '1000',
      meaning: 'checks that run at the same time, at most',
    },
    WORKERS: {
      schema: z.union([z.literal('auto'), integer(1, 256)], {
        error: 'expected a whole number from 1 to 256, or auto',
      }),
      default: '1',
      meaning: 'threads that run checks, or `auto` for one on each core; with 1 the main thread runs them itself',
    },
    ALLOWED_PRIVATE_TARGETS: {
      schema: networks,
      defaultMeaning: 'none',
      meaning:
        "CIDRs that checks on this probe may reach at most although they are not public: on a shared probe those that their workspaces are allowed (docs/publishing.md); the product's own listeners stay denied",
    },
    CANARIES: {
      schema: hostsAndPorts,
      defaultMeaning: 'none',
      meaning:
        'comma-separated `host:port` that are dialled by TCP while the session is silent: when they and the default gateway all fail, failures are the probe’s own',
    },
    BROWSER: {
      schema: text.refine((value) => value.startsWith('/'), {
        error: 'expected an absolute path such as /usr/bin/chromium',
      }),
      defaultMeaning: 'none: no browser checks',
      meaning: 'Chromium that checks of the type `pagespeed` may start, as an absolute path',
    },
    BROWSER_USER: {
      schema: z
        .string()
        .regex(
          /^[1-9][0-9]{0,9}(:[1-9][0-9]{0,9})?$/,
          'expected the number of a user, or user:group, and not that of root',
        )
        .refine((value) => value.split(':').every((number) => Number(number) <= 4_294_967_294), {
          error: 'is no number of a user',
        }),
      defaultMeaning: 'nobody (65534) where the agent is root, else the account of the agent',
      meaning:
        'account that the browser runs under, `user` or `user:group` in numbers; only root can give it another than its own',
    },
    DOCKER_SOCKETS: {
      schema: absolutePaths,
      defaultMeaning: 'none: no checks over a socket',
      meaning:
        'comma-separated absolute paths of sockets of Docker that checks of the type `docker` may ask; everybody who may use this probe can then learn the state of every container there, and nothing else',
    },
    LOG_LEVEL: {
      schema: z.enum(logLevels),
      default: 'info',
      meaning: `least severe line that is logged: ${logLevels.join(', ')}`,
    },
    METRICS_PORT: { schema: port, defaultMeaning: 'off', meaning: 'port of `/metrics` for Prometheus, on loopback' },
  },
  { prefix: 'PARALLAX_PROBE_' },
);

export type AgentSettings = SettingsOf<typeof agentSettings>;
