import { connect, credsAuthenticator } from '@nats-io/transport-node';
import type { NatsAuthority } from '@parallax/pki';
import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import { loadAuthority, loadNatsAuthority, revokedProbeKeys } from '../../../installation/index.ts';
import type { Context } from '../../../context.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { probesChangedSubject } from '../gateway.ts';

const updateSubject = '$SYS.REQ.CLAIMS.UPDATE';
const pollMs = 2_000;

/**
 * Keeps the broker's list of revoked probes equal to the database's: at the start, after every reconnect (a broker that was
 * restarted may have an old list), and within two seconds of a revocation.
 */
export async function startBrokerAccess(context: Context, log: Logger): Promise<RunningService> {
  const { worker } = context.database;
  const authority = await loadAuthority(worker, context.sealer, context.now());
  const natsAuthority = await loadNatsAuthority(worker, context.sealer);
  let pushed = '';
  let running: Promise<void> | undefined;
  let isStopped = false;

  const look = (): void => {
    if (isStopped) return;
    running ??= pushIfChanged()
      .catch((error: unknown) =>
        log.warn({ err: error }, "the broker's list of revoked probes was not brought up to date; trying again"),
      )
      .finally(() => {
        running = undefined;
      });
  };
  const pushIfChanged = async (): Promise<void> => {
    const accountJwt = await revocationList(worker, natsAuthority, context.now());
    if (accountJwt.revoked === pushed || context.bus.connection.isClosed()) return;
    await pushAccount({
      server: context.bus.connection.getServer(),
      authorityPem: authority.certificatePem,
      credentials: natsAuthority.systemCredentials(context.now()),
      accountJwt: accountJwt.jwt,
    });
    pushed = accountJwt.revoked;
    log.debug("the broker's list of revoked probes is up to date");
  };

  const listening = context.bus.listen(probesChangedSubject, look);
  const timer = setInterval(look, pollMs);
  void (async () => {
    for await (const status of context.bus.connection.status()) {
      if (isStopped) return;
      if (status.type === 'reconnect') {
        pushed = '';
        look();
      }
    }
  })();
  look();
  return {
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      listening.stop();
      await running;
    },
  };
}

async function revocationList(
  pool: DatabasePool,
  natsAuthority: NatsAuthority,
  nowMs: number,
): Promise<{ revoked: string; jwt: string }> {
  const revocations = await revokedProbeKeys(pool);
  const revoked = `${revocations.length}:${revocations.reduce((latest, { revokedAtMs }) => Math.max(latest, revokedAtMs), 0)}`;
  return { revoked, jwt: natsAuthority.accountJwt(revocations, nowMs) };
}

/** Hands the broker a new account JWT over the system account. @throws when it is away or refuses */
export async function pushAccount(options: {
  /** "host:port" */
  readonly server: string;
  readonly authorityPem: string | undefined;
  readonly credentials: string;
  readonly accountJwt: string;
}): Promise<void> {
  const connection = await connect({
    servers: options.server,
    name: 'control-plane-system',
    authenticator: credsAuthenticator(new TextEncoder().encode(options.credentials)),
    reconnect: false,
    timeout: 5_000,
    ignoreClusterUpdates: true,
    ...(options.authorityPem === undefined ? {} : { tls: { ca: options.authorityPem } }),
  });
  try {
    const reply = await connection.request(updateSubject, options.accountJwt, { timeout: 5_000 });
    const answer: unknown = reply.json();
    const isDone = typeof answer === 'object' && answer !== null && 'data' in answer;
    if (!isDone) throw new Error(`the broker refused the account: ${reply.string().slice(0, 300)}`);
  } finally {
    await connection.close();
  }
}
