import { z } from 'zod';
import { assertionsSchema, severities } from './assertions/settings.ts';
import { changed, lazily } from './lazily.ts';
import { authorities } from './net/connection-settings.ts';
import { maxNameServers, readNameServer } from './net/own-resolver.ts';
import { isCredential, readProxy, writeProxy } from './net/proxy/proxy.ts';

/** Settings that every check type takes beside its own. None has a default, so that nothing is stored where none is used. */
export const commonShape = lazily(() => ({
  /** What has to hold of a good answer beyond what the type's own settings ask for. */
  assertions: assertionsSchema().optional(),
  /**
   * The target must not answer: no connection, no reply in time or no such name is good, any answer is `inverted_answer`. What is the
   * resolver's or the probe's own fault stays that.
   */
  inverted: z.boolean().optional(),
  /** Checks every address of the name, IPv4 and IPv6, at most sixteen, at the same time. */
  all_addresses: z.boolean().optional(),
  /** With `all_addresses`: how grave it is when some addresses fail and others do not (default `degraded`). */
  bad_address_severity: z.enum(severities).optional(),
}));

/** Settings of types whose answers are web pages. */
const pageShape = lazily(() => ({
  /** Fails for a page that answers in the target's place: parked, suspended, for sale, or a provider's notice of a block. */
  detect_stub_pages: z.boolean().optional(),
}));

/** Settings of types that look up the name of their target. */
export const nameShape = lazily(() => ({
  /**
   * Name servers that the name of the target is looked up by in the place of those of the probe, as `address` or `address:port`; the next
   * one is asked where one does not answer. The address policy judges them.
   */
  resolver: z
    .array(
      z
        .string()
        .max(60)
        .superRefine((text, context) => {
          const read = readNameServer(text);
          if (typeof read === 'string') context.addIssue({ code: 'custom', message: read });
        }),
    )
    .min(1)
    .max(maxNameServers)
    .optional(),
}));

/** Settings of types that hold one conversation over TCP. */
export const proxyShape = lazily(() => ({
  /**
   * Proxy that every connection goes through: `http://` or `https://` (by CONNECT) or `socks5://`, with user, host and port. It looks up the
   * name of the target. The address policy judges the proxy, and targets that are addresses.
   */
  proxy: z
    .string()
    .max(2048)
    .superRefine((text, context) => {
      const read = readProxy(text);
      if (typeof read === 'string') context.addIssue({ code: 'custom', message: read });
    })
    .optional(),
  /** Password of the user in `proxy`; one that is written there is moved here. */
  proxy_password: z
    .string()
    .min(1)
    .max(255)
    .refine(isCredential, 'A password of a proxy has at most 255 bytes and no control characters.')
    .optional(),
  /** Authorities in PEM form to trust for a proxy with `https://` instead of the public ones. */
  proxy_ca_certificates: authorities().optional(),
}));
export type CommonSettings = z.infer<
  z.ZodObject<
    ReturnType<typeof commonShape> &
      ReturnType<typeof pageShape> &
      ReturnType<typeof nameShape> &
      ReturnType<typeof proxyShape>
  >
>;

/** What is secret among the settings of a proxy. */
const proxySecrets = ['proxy_password'] as const;

const webTypes: ReadonlySet<string> = new Set(['http', 'https']);
/** Types that ask others about their target; `dns` names whom it asks itself. */
const askedElsewhere: ReadonlySet<string> = new Set(['dns', 'dnsbl', 'whois', 'rdap']);
/** Types that connect to their target by TCP, and need nothing else. */
const proxied: ReadonlySet<string> = new Set(
  (
    'http https ws wss api grpc tcp ssl tls mqtt amqp kafka nats postgres mysql redis mongodb mssql ' +
    'smtp imap pop3 ldap ssh sftp ftp ftps'
  ).split(' '),
);
const extended = new WeakMap<z.ZodObject, z.ZodObject>();

/** The settings of a type with those that every type takes; one schema for types that share theirs. */
function withCommonSettings(type: string, own: z.ZodObject): z.ZodObject {
  const known = extended.get(own);
  if (known !== undefined) return known;
  const shape = {
    ...commonShape(),
    ...(webTypes.has(type) && pageShape()),
    ...(!askedElsewhere.has(type) && nameShape()),
    ...(proxied.has(type) && proxyShape()),
  };
  const checked = own.safeExtend(shape).superRefine((all, context) => {
    const problem = contradiction(all);
    if (problem !== undefined) context.addIssue({ code: 'custom', ...problem });
  });
  const made = proxied.has(type) ? checked.overwrite(withHiddenPassword) : checked;
  extended.set(own, made);
  return made;
}

function contradiction(all: CommonSettings): { readonly message: string; readonly path: string[] } | undefined {
  if (all.inverted === true && all.assertions !== undefined)
    return { message: 'What must not answer has nothing to assert.', path: ['assertions'] };
  if (all.inverted === true && all.detect_stub_pages === true)
    return { message: 'What must not answer has no page to look at.', path: ['detect_stub_pages'] };
  if (all.bad_address_severity !== undefined && all.all_addresses !== true)
    return { message: 'Only with all_addresses can some addresses be bad.', path: ['bad_address_severity'] };
  return proxyProblem(all);
}

function proxyProblem(
  all: CommonSettings & { readonly ip_version?: unknown },
): { readonly message: string; readonly path: string[] } | undefined {
  if (all.proxy === undefined) {
    const path = (['proxy_password', 'proxy_ca_certificates'] as const).find((name) => all[name] !== undefined);
    return path === undefined ? undefined : { message: 'This is for a proxy; give proxy.', path: [path] };
  }
  if (all.all_addresses === true)
    return { message: 'A proxy chooses the address itself; leave all_addresses out.', path: ['all_addresses'] };
  if (all.ip_version !== undefined)
    return { message: 'A proxy chooses the address itself; leave ip_version out.', path: ['ip_version'] };
  const read = readProxy(all.proxy);
  if (typeof read === 'string') return undefined;
  if (all.proxy_password !== undefined && read.username === undefined)
    return { message: 'The password of a proxy needs a user name in proxy.', path: ['proxy_password'] };
  if (all.proxy_ca_certificates !== undefined && read.scheme !== 'https')
    return { message: 'Only a proxy with https:// shows a certificate.', path: ['proxy_ca_certificates'] };
  return undefined;
}

/** Moves the password out of the URL of the proxy, which is shown. */
function withHiddenPassword<All extends Record<string, unknown>>(all: All): All {
  const { proxy } = all;
  const read = typeof proxy === 'string' ? readProxy(proxy) : undefined;
  if (read === undefined || typeof read === 'string') return all;
  return { ...all, proxy: writeProxy(read), ...(read.password !== undefined && { proxy_password: read.password }) };
}

type Extended = { readonly settings: () => z.ZodObject; readonly secretFields: readonly string[] };

/** Gives every type the common settings. They are put together when they are first asked for, which most never are on a probe. */
export function extendAll<const Types extends Readonly<Record<string, Extended>>>(types: Types): Types {
  const whole = Object.entries(types).map(([name, type]) => {
    const settings = lazily(() => withCommonSettings(name, type.settings()));
    if (!proxied.has(name)) return [name, changed(type, { settings })] as const;
    // Asked for when they are needed, as those of the type are.
    const secrets = lazily(() => [...type.secretFields, ...proxySecrets]);
    const more = {
      settings,
      get secretFields() {
        return secrets();
      },
    };
    return [name, changed(type, more)] as const;
  });
  return Object.fromEntries(whole) as Types;
}
