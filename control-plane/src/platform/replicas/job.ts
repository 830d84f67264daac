import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import type { RunningService } from '../running-service.ts';
import { announceReplica, replicaListeners, sortedListeners } from './queries.ts';
import type { ReplicaListener } from './queries.ts';

export type ReplicaRegisterOptions = {
  readonly pool: DatabasePool;
  /** This process among replicas. */
  readonly name: string;
  readonly roles: readonly string[];
  /** Where this process and what it depends on listen, as last seen. */
  readonly ownListeners: () => readonly ReplicaListener[];
  /** What the checks and webhooks of this process leave from. */
  readonly sourceAddresses: () => Promise<readonly string[]>;
  readonly log: Pick<Logger, 'warn'>;
  readonly everyMs?: number;
};

export type ReplicaRegister = RunningService & {
  /** Listeners of all replicas, this one's first of all; the same array until something has changed. */
  readonly listeners: () => readonly ReplicaListener[];
  /** Announces this replica and reads the others, now. */
  readonly look: () => Promise<void>;
};

/**
 * Makes the listeners of every replica known to every other: what no check may reach is not only what listens in this process.
 * A replica that stops is not taken out at once, since mostly it comes back.
 * @throws when the database does not answer at the start
 */
export async function startReplicaRegister(options: ReplicaRegisterOptions): Promise<ReplicaRegister> {
  const { pool, name, roles, ownListeners, sourceAddresses, log, everyMs = 5_000 } = options;
  let others: readonly ReplicaListener[] = [];
  let known: readonly ReplicaListener[] = [];
  let looking: Promise<void> | undefined;

  /** Made from what this process knows now, so that a change of its own needs no database. */
  const listeners = (): readonly ReplicaListener[] => {
    const next = sortedListeners([...ownListeners(), ...others]);
    if (JSON.stringify(next) !== JSON.stringify(known)) known = Object.freeze(next);
    return known;
  };
  const look = (): Promise<void> => {
    looking ??= (async () => {
      const announced = { listeners: ownListeners(), sourceAddresses: await sourceAddresses() };
      await announceReplica(pool, { name, roles, ...announced });
      others = await replicaListeners(pool);
    })().finally(() => {
      looking = undefined;
    });
    return looking;
  };

  await look();
  const timer = setInterval(() => {
    look().catch((error: unknown) =>
      log.warn({ err: error }, 'the other replicas could not be read; what was known of their listeners still counts'),
    );
  }, everyMs);
  return {
    listeners,
    look,
    stop: async () => {
      clearInterval(timer);
      await looking?.catch(() => undefined);
    },
  };
}
