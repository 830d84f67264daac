import type { z } from 'zod';
import type { Address, CheckContext, CheckType, ProbeCapability, Target, TypeReference } from '../check.ts';
import type { ErrorCode } from '../outcome.ts';
import type { Purpose } from './address-policy.ts';
import { lazily } from '../lazily.ts';
import { connectionSecrets, type ConnectionSettings, type TlsMode, withClientPair } from './connection-settings.ts';
import { hold } from './hold.ts';
import { parseHostPort } from './host.ts';
import type { Session } from './session.ts';
import type { TalkCodes } from './talk.ts';

export type { Address } from '../check.ts';

/** How the targets of a type are written. */
export type TargetForm = {
  /** Schemes with the port that each stands for; undefined for one that stands for none. */
  readonly plain: Readonly<Record<string, number | undefined>>;
  /** The same for those that mean TLS. Where `tls` is `implicit` their first port is that of a target without a scheme. */
  readonly secure?: Readonly<Record<string, number>>;
  /** How the connection is secured behind such a scheme; absent: `implicit`. */
  readonly secureBy?: 'starttls';
  /** Port where the target names neither one nor a scheme; absent: the first of the schemes, which makes it compulsory where that has none. */
  readonly defaultPort?: number;
  /** Ports on which `auto` means TLS from the start. */
  readonly implicitPorts?: readonly number[];
};

/** Reads `host`, `host:port` or one of these behind a scheme; gives a sentence about what is wrong otherwise. */
export function readAddress(url: string, form: TargetForm, tls: TlsMode = 'none'): Address | string {
  const text = url.trim();
  if (text.includes(',')) return 'A target is one server; make a monitor for each of them.';
  const [, scheme = '', path] = /^([a-z][a-z0-9+.-]*):\/\/[^/?#]*\/?([^/?#][^]*)?$/i.exec(text) ?? [];
  if (path !== undefined) return 'A path or options do not belong in the target; use the settings.';
  const { plain, secure = {}, secureBy = 'implicit' } = form;
  const isSecure = Object.hasOwn(secure, scheme.toLowerCase());
  if (isSecure && tls === 'starttls' && secureBy === 'implicit')
    return `A target with ${scheme}:// has TLS from the start; leave tls: starttls out.`;
  const ports = tls === 'implicit' && Object.keys(secure).length > 0 ? secure : plain;
  const defaultPort = form.defaultPort ?? Object.values(ports)[0];
  const parsed = parseHostPort(text, { schemes: { ...plain, ...secure }, defaultPort });
  if (typeof parsed === 'string') return parsed;
  if (isSecure) return { ...parsed, tls: secureBy === 'starttls' && tls === 'implicit' ? tls : secureBy };
  const isImplicit = tls === 'auto' && form.implicitPorts?.includes(parsed.port) === true;
  return { ...parsed, tls: isImplicit ? 'implicit' : tls };
}

/** What a check type that holds a conversation, over a connection or by datagrams, consists of: its settings, its targets and its protocol. */
export type Conversation<Name extends string, Schema extends z.ZodObject> = {
  readonly type: Name;
  readonly summary: string;
  readonly reference: TypeReference;
  readonly settings: () => Schema;
  /** Names of secret settings beyond `password` and `client_key`. */
  readonly secretFields?: readonly string[];
  /** Values of secret settings that everybody knows, which are shown: the community `public` of SNMP. */
  readonly wellKnown?: readonly string[];
  readonly requires?: readonly ProbeCapability[];
  /** Absent: true. */
  readonly cheap?: boolean;
  /** What the other side should be, for sentences: `an MQTT broker`. */
  readonly peer: string;
  /** The code of a breach of the protocol, or also that of an early end. */
  readonly codes: ErrorCode | TalkCodes;
  readonly target: TargetForm | ((target: Target, settings: z.infer<Schema>) => Address | string);
  /** What is wrong with a target together with the settings, beyond its form. */
  readonly problem?: (target: Address, settings: z.infer<Schema>) => string | undefined;
  readonly purpose?: (settings: z.infer<Schema>) => Purpose | undefined;
  readonly maxBytes?: number;
  readonly anyTlsVersion?: boolean;
  /** Settings of the connection, where they are not those of the monitor. */
  readonly connection?: (settings: z.infer<Schema>) => ConnectionSettings;
  /** What hides secrets that are made of several settings. */
  readonly secrets?: (settings: z.infer<Schema>) => ReadonlyArray<string | undefined>;
  /** Loads libraries before the time is taken. */
  readonly prepare?: () => Promise<unknown>;
  /** The protocol. `session` is not open yet. */
  readonly talk: (session: Session, settings: z.infer<Schema>, to: Address) => Promise<void>;
};

/** Makes the check type. Adds what all of them have: reading the target, secrets, the pair of a client certificate and its key. */
export function conversation<const Name extends string, Schema extends z.ZodObject>(
  made: Conversation<Name, Schema>,
): CheckType<Name, Schema> {
  const { type, summary, reference, peer, maxBytes, anyTlsVersion } = made;
  const settingsOf = lazily(() => withClientPair(made.settings()));
  const secretsOf = lazily(() => {
    const { shape } = made.settings();
    return [...connectionSecrets, ...(made.secretFields ?? [])].filter((each) => Object.hasOwn(shape, each));
  });
  const codes = typeof made.codes === 'string' ? { breach: made.codes } : made.codes;
  const read = (target: Target, settings: z.infer<Schema>): Address | string => {
    if (typeof made.target === 'function') return made.target(target, settings);
    return readAddress(target.url, made.target, (settings as { readonly tls?: TlsMode }).tls);
  };
  return {
    type,
    summary,
    reference,
    settings: settingsOf,
    get secretFields() {
      return secretsOf();
    },
    requires: made.requires ?? [],
    cheap: made.cheap ?? true,
    validateTarget: (target, settings) => {
      const to = read(target, settings);
      return typeof to === 'string' ? to : made.problem?.(to, settings);
    },
    addressOf: read,
    run: async (target: Target, settings: z.infer<Schema>, context: CheckContext) => {
      const to = read(target, settings);
      if (typeof to === 'string') throw new Error(`The target was not validated: ${to}`);
      await made.prepare?.();
      const plain = secretsOf()
        .map((name) => settings[name])
        .filter((each) => typeof each === 'string');
      const hidden = plain.filter((each) => made.wellKnown?.includes(each) !== true);
      const secrets = [...hidden, ...(made.secrets?.(settings) ?? [])];
      const connection = made.connection?.(settings) ?? settings;
      const purpose = made.purpose?.(settings);
      const plan = { to, settings: connection, context, peer, codes, secrets, purpose, maxBytes, anyTlsVersion };
      return hold(plan, (session) => made.talk(session, settings, to));
    },
  };
}
