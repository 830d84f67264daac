import type { CheckContext } from '../check.ts';
import type { Purpose } from './address-policy.ts';
import type { ConnectionSettings, TlsMode } from './connection-settings.ts';
import type { HostPort } from './host.ts';
import type { TalkCodes } from './talk.ts';
import type { TlsOptions } from './tls.ts';

/** What a session is held with. */
export type SessionPlan = {
  /** Where to connect, and how the connection is to be secured. */
  readonly to: HostPort & { readonly tls: TlsMode };
  readonly settings: ConnectionSettings;
  readonly context: CheckContext;
  /** What the other side should be, for sentences: `an MQTT broker`. */
  readonly peer: string;
  readonly codes: TalkCodes;
  /** What may never be shown, however the other side spells it. */
  readonly secrets: ReadonlyArray<string | undefined>;
  readonly purpose?: Purpose | undefined;
  /** Most bytes that are read; absent: 1 MiB. */
  readonly maxBytes?: number | undefined;
  /** Shake hands in every version that there is, to be able to say what a server offers. */
  readonly anyTlsVersion?: boolean | undefined;
};

/** How a handshake of the session is made. */
export function tlsOptionsOf({ to, settings, anyTlsVersion }: SessionPlan): TlsOptions {
  return {
    host: settings.server_name ?? to.host.replace(/^\[|\]$/g, ''),
    verify: settings.verify_tls ?? true,
    context: {
      caCertificates: settings.ca_certificates,
      clientCertificate: settings.client_certificate,
      clientKey: settings.client_key,
      anyVersion: anyTlsVersion,
    },
  };
}
