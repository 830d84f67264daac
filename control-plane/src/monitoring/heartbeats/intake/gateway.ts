import type { Context } from '../../../context.ts';
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
export function createIntake(context: Pick<Context, 'database' | 'limits'>): Intake {
  return createGroupCommit({
    write: (offers) => takeOffers(context, offers),
    isAway: isDatabaseAway,
    bytesOf: ({ body }) => 500 + (body.text?.length ?? 0) * 2,
    gatherMs,
    mostItems: 500,
    lanes: 2,
    mostWaiting: { items: 20_000, bytes: 64 * 1_048_576 },
    deadlineMs,
  });
}

/** Takes signals in one transaction. @returns what became of each, in their order */
export async function takeOffers(
  { database, limits }: Pick<Context, 'database' | 'limits'>,
  offers: readonly Offer[],
): Promise<readonly Outcome[]> {
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
    byHeartbeat.set(heartbeatId, [...(byHeartbeat.get(heartbeatId) ?? []), offer]);
  }
  if (byHeartbeat.size > 0) {
    const scope = { userId: null, workspaceIds: [...workspaceIds] };
    const { quota } = limits.rate('ping');
    await inScope(database.api, scope, async (tx) => {
      const heartbeats = await lockStates(scope, tx, [...byHeartbeat.keys()]);
      const folded = heartbeats.map((heartbeat) => foldOffers(heartbeat, byHeartbeat.get(heartbeat.id) ?? [], quota));
      await writeFolded(tx, folded);
      for (const each of folded) for (const [offer, outcome] of each.outcomes) outcomes.set(offer, outcome);
    });
  }
  // A heartbeat that was deleted between look-up and lock is as one that never was.
  return offers.map((offer) => outcomes.get(offer) ?? { kind: 'unknown', workspaceId: null, isThere: false });
}
