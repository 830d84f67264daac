import type { NatsOperator, NatsTls } from '@parallax/embedded';
import type { ControlPlaneSettings } from '@parallax/settings';

/** The same database as three roles. */
export type DatabaseUrls = { readonly owner: string; readonly api: string; readonly worker: string };

/** What a nats-server of ours is started with. */
export type NatsMaterial = { readonly operator: NatsOperator; readonly tls: NatsTls };

export type ProcessCommand = { readonly command: string; readonly args: readonly string[] };

/** Settings in force (ports as chosen, data folder absolute) and where the database is. */
export type InstallationInput = { readonly settings: ControlPlaneSettings; readonly databaseUrls: DatabaseUrls };

/** What the supervisor is given by the rest of the product. */
export type UpParts = {
  /**
   * Migrates, makes the keys that are missing, and says what nats-server is started with. Called at every start of nats-server, so
   * the accounts hold the revocations of that moment; everything in it may be done again.
   */
  readonly prepareInstallation: (input: InstallationInput) => Promise<{ readonly nats: NatsMaterial }>;
  /** A one-time token for a local probe; called when `isEnrolled` says no. */
  readonly createJoinToken: (
    input: InstallationInput & { readonly name: string; readonly region: string },
  ) => Promise<string>;
  /** Whether the agent with this state folder has a certificate already. */
  readonly isEnrolled: (stateDir: string) => boolean;
  /** The control plane itself, `serve`. */
  readonly serve: ProcessCommand;
  /** Path of its readiness endpoint. */
  readonly readinessPath: string;
  /** The agent without a subcommand; `register` and `run` are added. */
  readonly agent: ProcessCommand;
};
