import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { logLevels } from './control-plane.ts';
import { defineSettings, type SettingsOf } from './define.ts';
import { hostAndPort, hostsAndPorts, integer, networks, port, text } from './values.ts';

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
    PUBLIC_ADDRESS: { schema: address, meaning: 'address that `/probe/ips` lists for this probe' },
    MAX_IN_FLIGHT: {
      schema: integer(1, 100_000),
      default: '1000',
      meaning: 'checks that run at the same time, at most',
    },
    WORKERS: { schema: integer(1, 256), default: '1', meaning: 'threads that run checks' },
    ALLOWED_PRIVATE_TARGETS: {
      schema: networks,
      defaultMeaning: 'none',
      meaning: "CIDRs that checks may reach although they are not public; the product's own listeners stay denied",
    },
    CANARIES: {
      schema: hostsAndPorts,
      defaultMeaning: 'none',
      meaning:
        'comma-separated `host:port` that are dialled by TCP while the session is silent: when they and the default gateway all fail, failures are the probe’s own',
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
