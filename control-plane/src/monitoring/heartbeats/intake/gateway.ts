import type { Context } from '../../../context.ts';
import { outboxSubject } from '../../../platform/bus/subjects.ts';
import { randomKeyHash } from '../../../platform/crypto/random-key.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { isDatabaseAway } from '../../../platform/http/database-faults.ts';
import { lockStates } from '../stored/queries.ts';
import { createGroupCommit } from './group-commit.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Offer, Outcome } from './offer.ts';
import { findAddressed, writeFolded } from './queries.ts';
import { foldOffers, isAdmitted } from './verdict.ts';

/** The design's numbers: batches of 5 ms, an answer within 5 s. */
const gatherMs = 5;
const deadlineMs = 5_000;

export type Intake = GroupCommit<Offer, Outcome>;

/** What takes signals in this process: together, and durable before the answer. */
export function createIntake(context: Pick<Context, 'database' | 'limits' | 'bus'>): Intake {
  return createGroupCommit({
    write: (offers) => takeOffers(context, offers),
    isAway: isDatabaseAway,
    bytesOf: ({ body }) => 500 + (body.text?.length ?? 0) * 2,
    gatherMs,
    // Small enough that the database writes one batch while the answers of another are sent: with 500 all clients wait for one batch, and then none does.
    mostItems: 64,
    lanes: 2,
    mostWaiting: { items: 20_000, bytes: 64 * 1_048_576 },
    deadlineMs,
  });
}

/** Takes signals in one transaction. @returns what became of each, in their order */
export async function takeOffers(
  context: Pick<Context, 'database' | 'limits' | 'bus'>,
  offers: readonly Offer[],
): Promise<readonly Outcome[]> {
  const { database, limits } = context;
  const found = await findAddressed(
    database.api,
    offers.map(({ address }) => address),
    randomKeyHash,
  );
  const outcomes = new Map<Offer, Outcome>();
  const byHeartbeat = new Map<number, Offer[]>();
  const workspaceIds = new Set<number>();
  for (const [index, offer] of offers.entries()) {
    const at = found[index];
    const heartbeatId = at?.heartbeatId ?? null;
    if (at === undefined || !isAdmitted(at, offer) || heartbeatId === null || at.workspaceId === null) {
      outcomes.set(offer, { kind: 'unknown', workspaceId: at?.workspaceId ?? null, isThere: heartbeatId !== null });
      continue;
    }
    workspaceIds.add(at.workspaceId);
    const others = byHeartbeat.get(heartbeatId);
    if (others === undefined) byHeartbeat.set(heartbeatId, [offer]);
    else others.push(offer);
  }
  if (byHeartbeat.size > 0) {
    const scope = { userId: null, workspaceIds: [...workspaceIds] };
    const { quota } = limits.rate('ping');
    const isTold = await inScope(database.api, scope, async (tx) => {
      const heartbeats = await lockStates(scope, tx, [...byHeartbeat.keys()]);
      const folded = heartbeats.map((heartbeat) => foldOffers(heartbeat, byHeartbeat.get(heartbeat.id) ?? [], quota));
      await writeFolded(tx, folded);
      for (const each of folded) for (const [offer, outcome] of each.outcomes) outcomes.set(offer, outcome);
      return folded.some(({ entries }) => entries.length > 0);
    });
    // A job that says that it has failed is news now, not at the next look.
    if (isTold) context.bus.hint(outboxSubject, {});
  }
  // A heartbeat that was deleted between look-up and lock is as one that never was.
  return offers.map((offer) => outcomes.get(offer) ?? { kind: 'unknown', workspaceId: null, isThere: false });
}
