import type { Limits } from './identity/plans/index.ts';
import type { ExternalBroker } from './installation/index.ts';
import type { Logger } from '@parallax/telemetry';
import type { Bus } from './platform/bus/bus.ts';
import type { SignInSettings } from './sign-in-settings.ts';
import type { Sealer } from './platform/crypto/seal.ts';
import type { Database } from './platform/database/pools.ts';
import type { Mailer } from './platform/mail/index.ts';
import type { OutboundClients } from './platform/outbound-http/index.ts';
import type { DeliveryMetrics } from './response/channels/delivery-metrics.ts';
import type { ChannelSettings } from './response/channels/operator-settings.ts';

/** What capabilities are given: made once in `main.ts`, never looked up from globals. */
export type Context = {
  readonly database: Database;
  readonly bus: Bus;
  readonly sealer: Sealer;
  readonly mailer: Mailer;
  readonly log: Logger;
  /** Identifies this process among replicas; new at every start. */
  readonly replica: string;
  /** The one clock: the database's, as this process knows its offset. Milliseconds since the epoch. */
  readonly now: () => number;
  readonly publicUrl: string;
  /** Where the front end is that people are led to, without a slash at its end; absent: the pages of the product stand in for it. */
  readonly frontendUrl?: string | undefined;
  readonly shards: number;
  /** Rates, and what plans allow. */
  readonly limits: Limits;
  readonly registration: 'open' | 'invite' | 'closed';
  /** Ways in beside the password. */
  readonly signIn: SignInSettings;
  readonly defaultPlan: 'free' | 'paid' | 'self_hosted';
  /** True when others than the people of this machine may reach the API. */
  readonly isPublished: boolean;
  /** Whether the first registration needs the set-up token when it arrives in this way. */
  readonly needsSetupToken: (request: { readonly isFromThisMachine: boolean }) => boolean;
  /** What probes are told to dial, "host:port". */
  readonly addresses: { readonly session: string; readonly enrolment: string; readonly broker: string };
  /** Where this process listens for probes. */
  readonly listen: { readonly grpcHost: string; readonly grpcPort: number; readonly enrolmentPort: number };
  /** Listeners of the product that no check may reach, as they are now: names among them are resolved again and again. */
  readonly deniedListeners: () => readonly { readonly address: string; readonly port: number }[];
  /** Present when the broker's keys are not the installation's. */
  readonly externalBroker?: ExternalBroker | undefined;
  /** CIDRs that checks may reach although they are not public. */
  readonly allowedPrivateTargets: readonly string[];
  /** The same for checks of workspaces that administrators have made and own, beside those. */
  readonly administratorPrivateTargets: readonly string[];
  /** The same for messages that go to where tenants say. */
  readonly allowedPrivateHooks: readonly string[];
  /** "host:port" that answer while this machine's own uplink stands (rule 12 of the consensus). */
  readonly canaries: readonly string[];
  /** Name servers as `address` or `address:port`; absent: those of the system. */
  readonly dnsServers?: readonly string[] | undefined;
  /** HTTP to others: guarded for addresses that tenants name, trusted for those of the operator. */
  readonly outbound: OutboundClients;
  /** Counts what came of a sending, for `/metrics`. */
  readonly deliveryMetrics: DeliveryMetrics;
  /** What the operator has set for alert channels. */
  readonly channels: ChannelSettings;
  readonly version: string;
  /** The data folder of this process; absent: nothing is kept in files. */
  readonly dataDir?: string | undefined;
};
