import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { controlPlaneServerName, natsAuthenticator, withRevocations } from '@parallax/pki';
import type { NatsRevocation } from '@parallax/pki';
import type { Logger } from '@parallax/telemetry';
import { loadAuthority, loadNatsAuthority, revokedProbeKeys } from '../../../installation/index.ts';
import type { Context } from '../../../context.ts';
import { repeatWhenDue } from '../../../platform/repeat-when-due.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { probesChangedSubject } from '../../../platform/bus/subjects.ts';

const updateSubject = '$SYS.REQ.CLAIMS.UPDATE';
const lookupSubject = (account: string): string => `$SYS.REQ.ACCOUNT.${account}.CLAIMS.LOOKUP`;
const unheardMs = 2_000;

/**
 * Keeps the broker's list of revoked probes equal to the database's: at the start, after every reconnect (a broker that was
 * restarted may have an old list), and at a revocation.
 */
export async function startBrokerAccess(context: Context, log: Logger): Promise<RunningService> {
  const { worker } = context.database;
  const given = context.externalBroker?.access;
  if (given !== undefined && given.probeAccount === given.account) {
    log.warn(
      'probes have no account of their own in the external broker: one that was broken into could empty the stream of results; set PARALLAX_NATS_PROBE_ACCOUNT',
    );
  }
  const pushRevocations = await revocationsPusher(context);
  if (pushRevocations === undefined) {
    log.warn(
      'no key of the operator of the broker is given: a revoked probe keeps its access to the broker until its credentials end, within a day',
    );
    return { stop: async () => undefined };
  }
  let pushed = '';
  let isStopped = false;

  const pushIfChanged = async (): Promise<void> => {
    const revocations = await revokedProbeKeys(worker);
    const state = `${revocations.length}:${revocations.reduce((latest, { revokedAtMs }) => Math.max(latest, revokedAtMs), 0)}`;
    if (state === pushed || context.bus.connection.isClosed()) return;
    await pushRevocations(revocations);
    pushed = state;
    log.debug("the broker's list of revoked probes is up to date");
  };

  const pushing = repeatWhenDue({
    signals: context.database.signals,
    tables: ['probes'],
    unheardMs,
    work: async () => {
      await pushIfChanged();
      return context.bus.connection.isClosed() ? unheardMs : undefined;
    },
    onError: (error) =>
      log.warn({ err: error }, "the broker's list of revoked probes was not brought up to date; trying again"),
  });
  const listening = context.bus.listen(probesChangedSubject, () => void pushing.soon());
  void (async () => {
    for await (const status of context.bus.connection.status()) {
      if (isStopped) return;
      if (status.type === 'reconnect') {
        pushed = '';
        void pushing.soon();
      }
    }
  })();
  void pushing.soon();
  return {
    stop: async () => {
      isStopped = true;
      listening.stop();
      await pushing.stop();
    },
  };
}

/** Gives what brings a list of revocations into the broker's account; undefined where the operator's key is not ours to use. */
async function revocationsPusher(
  context: Context,
): Promise<((revocations: readonly NatsRevocation[]) => Promise<void>) | undefined> {
  const { worker } = context.database;
  const { certificatePem: authorityPem } = await loadAuthority(worker, context.sealer, context.now());
  const broker = () => ({ server: context.bus.connection.getServer(), authorityPem });
  if (context.externalBroker === undefined) {
    const natsAuthority = await loadNatsAuthority(worker, context.sealer);
    return (revocations) =>
      pushAccounts({
        ...broker(),
        credentials: natsAuthority.systemCredentials(context.now()),
        accountJwts: natsAuthority.accountJwts(revocations, context.now()),
      });
  }
  const { access, revoking } = context.externalBroker;
  if (revoking === undefined) return undefined;
  return (revocations) =>
    changeAccount({
      ...broker(),
      credentials: revoking.systemCredentials,
      account: access.probeAccount,
      change: (jwt) => withRevocations(jwt, revoking.operatorSigningSeed, revocations, context.now()),
    });
}

type SystemAccess = {
  /** "host:port" */
  readonly server: string;
  readonly authorityPem: string | undefined;
  /** Of a user of the system account. */
  readonly credentials: string;
};

/**
 * Hands the broker new JWTs of accounts over the system account, also of those that it does not know yet, as after an upgrade.
 * @param options.accountJwts by public key
 * @throws when it is away or refuses
 */
export async function pushAccounts(
  options: SystemAccess & { readonly accountJwts: Readonly<Record<string, string>> },
): Promise<void> {
  await withSystemAccount(options, async (connection) => {
    for (const jwt of Object.values(options.accountJwts)) await update(connection, jwt);
  });
}

/** Changes the JWT that the broker has of an account: what else its operator wrote there stays. @throws when it is away or refuses */
async function changeAccount(
  options: SystemAccess & { readonly account: string; readonly change: (jwt: string) => string },
): Promise<void> {
  await withSystemAccount(options, async (connection) => {
    const present = await connection.request(lookupSubject(options.account), '', { timeout: 5_000 });
    if (present.data.length === 0) throw new Error(`the broker knows no account ${options.account}`);
    await update(connection, options.change(present.string()));
  });
}

async function update(connection: NatsConnection, accountJwt: string): Promise<void> {
  const reply = await connection.request(updateSubject, accountJwt, { timeout: 5_000 });
  const answer: unknown = reply.json();
  const isDone = typeof answer === 'object' && answer !== null && 'data' in answer;
  if (!isDone) throw new Error(`the broker refused the account: ${reply.string().slice(0, 300)}`);
}

async function withSystemAccount(
  { server, authorityPem, credentials }: SystemAccess,
  work: (connection: NatsConnection) => Promise<void>,
): Promise<void> {
  // The broker is dialled by address here, whatever its name is; the library hands the name on to node:tls, which checks it.
  const tls = { ca: authorityPem ?? '', servername: controlPlaneServerName };
  const connection = await connect({
    servers: server,
    name: 'control-plane-system',
    authenticator: natsAuthenticator(credentials),
    reconnect: false,
    timeout: 5_000,
    ignoreClusterUpdates: true,
    ...(authorityPem === undefined ? {} : { tls }),
  });
  try {
    await work(connection);
  } finally {
    await connection.close();
  }
}
