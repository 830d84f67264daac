import { z } from 'zod';
import { lazily } from '../lazily.ts';
import { valueShape } from '../data/value-settings.ts';
import { addressFields } from '../net/connection-settings.ts';

/** Digests of the user-based security model: RFC 3414 (MD5, SHA-1) and RFC 7860. */
export const authProtocols = ['none', 'md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'] as const;
export type AuthProtocol = (typeof authProtocols)[number];

// RFC 3414, section 11.2: a password has at least 8 octets.
const password = lazily(() => z.string().min(8).max(256));

/** Settings of `snmp`. */
export const snmpSettings = lazily(() =>
  z.strictObject({
    version: z.enum(['1', '2c', '3']).default('2c'),
    /** What is asked for, in numbers; absent: how long the agent has been up. */
    oid: z
      .string()
      .regex(/^\.?[0-2](?:\.(?:0|[1-9]\d{0,9})){1,127}$/, 'An object identifier is written as numbers with dots.')
      .refine(
        (oid) => oidFits(oid),
        'An object identifier has a second number below 40 and no number above 4294967295.',
      )
      .default('1.3.6.1.2.1.1.3.0'),
    /** Versions 1 and 2c: what stands for a password there. */
    community: z.string().min(1).max(255).default('public'),
    /** The user, for version 3. */
    username: z.string().min(1).max(32).optional(),
    /** How messages of the user are signed, for version 3. */
    auth_protocol: z.enum(authProtocols).default('none'),
    /** The password that they are signed with. */
    auth_password: password().optional(),
    /** AES with 128 bit (RFC 3826); DES is no longer safe and not offered. */
    priv_protocol: z.enum(['none', 'aes']).default('none'),
    /** The password that they are encrypted with. */
    priv_password: password().optional(),
    /** The context of the object, for version 3; empty: the usual one. */
    context_name: z.string().max(255).default(''),
    ...valueShape(),
    /** The value has to be a number that is not below this. */
    min_value: z.number().optional(),
    /** The value has to be a number that is not above this. */
    max_value: z.number().optional(),
    ...addressFields(),
  }),
);
export type SnmpSettings = z.infer<ReturnType<typeof snmpSettings>>;

function oidFits(oid: string): boolean {
  const [first = 0, second = 0, ...others] = oid.replace(/^\./, '').split('.').map(Number);
  return (first === 2 || second < 40) && [second, ...others].every((arc) => arc <= 0xffff_ffff);
}

/** What is missing or does not go together, as a sentence; undefined when all is there. */
export function snmpProblem(settings: SnmpSettings): string | undefined {
  if (settings.version !== '3') return undefined;
  if (settings.username === undefined) return 'Version 3 needs a username.';
  if (settings.auth_protocol !== 'none' && settings.auth_password === undefined)
    return 'Authentication needs an auth_password.';
  if (settings.priv_protocol === 'none') return undefined;
  if (settings.auth_protocol === 'none') return 'Encryption needs authentication; set auth_protocol.';
  return settings.priv_password === undefined ? 'Encryption needs a priv_password.' : undefined;
}
