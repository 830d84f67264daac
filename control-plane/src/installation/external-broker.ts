import { openNatsAccount, PkiError, readNkeySeed } from '@parallax/pki';
import type { NatsAccountAccess } from '@parallax/pki';
import type { ControlPlaneSettings } from '@parallax/settings';
import { InstallationError } from './errors.ts';

/** A broker whose operator is somebody else, who gave Parallax an account in it. */
export type ExternalBroker = {
  readonly access: NatsAccountAccess;
  /** What it takes to bring revocations into the account; absent: credentials of a revoked probe end by themselves, within a day. */
  readonly revoking?: { readonly operatorSigningSeed: string; readonly systemCredentials: string };
};

type BrokerSettings = Pick<
  ControlPlaneSettings,
  | 'natsUrl'
  | 'natsAccount'
  | 'natsAccountSigningKey'
  | 'natsProbeAccount'
  | 'natsProbeAccountSigningKey'
  | 'natsOperatorSigningKey'
  | 'natsSystemCredentials'
>;

/**
 * The broker that the settings name; undefined when the installation has its own keys for it, wherever it runs.
 * @throws InstallationError for settings that do not go together, or a seed that is none
 */
export function externalBroker(settings: BrokerSettings): ExternalBroker | undefined {
  const { natsUrl, natsAccount, natsAccountSigningKey, natsOperatorSigningKey, natsSystemCredentials } = settings;
  const { natsProbeAccount, natsProbeAccountSigningKey } = settings;
  const ofProbes = [natsProbeAccount, natsProbeAccountSigningKey];
  const given = [natsAccount, natsAccountSigningKey, ...ofProbes, natsOperatorSigningKey, natsSystemCredentials];
  if (given.every((value) => value === undefined)) return undefined;
  if (natsUrl === undefined || natsAccount === undefined || natsAccountSigningKey === undefined) {
    throw new InstallationError(
      'for a broker with keys of its own, set PARALLAX_NATS_URL, PARALLAX_NATS_ACCOUNT and PARALLAX_NATS_ACCOUNT_SIGNING_KEY, ' +
        'and where you may sign for its operator also PARALLAX_NATS_OPERATOR_SIGNING_KEY and PARALLAX_NATS_SYSTEM_CREDENTIALS',
    );
  }
  if ((natsOperatorSigningKey === undefined) !== (natsSystemCredentials === undefined)) {
    throw new InstallationError(
      'PARALLAX_NATS_OPERATOR_SIGNING_KEY and PARALLAX_NATS_SYSTEM_CREDENTIALS revoke probes together: set both or neither',
    );
  }
  if ((natsProbeAccount === undefined) !== (natsProbeAccountSigningKey === undefined)) {
    throw new InstallationError(
      'PARALLAX_NATS_PROBE_ACCOUNT and PARALLAX_NATS_PROBE_ACCOUNT_SIGNING_KEY belong together: set both or neither',
    );
  }
  const own = { account: natsAccount, signingSeed: natsAccountSigningKey };
  const probes =
    natsProbeAccount === undefined || natsProbeAccountSigningKey === undefined
      ? own
      : { account: natsProbeAccount, signingSeed: natsProbeAccountSigningKey };
  checked('PARALLAX_NATS_ACCOUNT_SIGNING_KEY', () => openNatsAccount(own));
  const access = checked('PARALLAX_NATS_PROBE_ACCOUNT_SIGNING_KEY', () => openNatsAccount(own, probes));
  if (natsOperatorSigningKey === undefined || natsSystemCredentials === undefined) return { access };
  checked('PARALLAX_NATS_OPERATOR_SIGNING_KEY', () => {
    const { kind } = readNkeySeed(natsOperatorSigningKey);
    if (kind !== 'operator') throw new PkiError(`expected the seed of an operator, got one of an ${kind}`);
  });
  return {
    access,
    revoking: { operatorSigningSeed: natsOperatorSigningKey, systemCredentials: natsSystemCredentials },
  };
}

function checked<Result>(name: string, open: () => Result): Result {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    throw new InstallationError(`${name}: ${error.message}`, { cause: error });
  }
}
