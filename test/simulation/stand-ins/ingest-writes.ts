import type { Ownership, RoundToWrite } from '../../../control-plane/src/monitoring/check-results/ingest/write.ts';
import { isOnlyFence, OwnershipLostError } from '../../../control-plane/src/monitoring/check-results/ingest/write.ts';
import { current } from '../engine/current.ts';
import type { Connection } from '../models/database/connection.ts';
import type { RoundWrite } from '../models/database/results.ts';

/* How the ingest writes a round, on the modelled database: the same statements in the same order under the same locks. */

export { isOnlyFence, OwnershipLostError };

export async function writeRound(client: Connection, ownership: Ownership, round: RoundToWrite): Promise<void> {
  const write = toWrite(ownership, round);
  if (isOnlyFence(round)) {
    await client.exchange<void>((answer, refuse) =>
      fence(client, write, refuse, () => {
        finish(client, write);
        answer();
      }),
    );
    return;
  }
  await client.exchange<void>((answer, refuse) => fence(client, write, refuse, () => answer()));
  // COPY and the other statements: they are seen with the commit only.
  await client.ask(() => undefined);
  await commit(client, write);
}

function toWrite({ shard, owner, term }: Ownership, { intake, changes, foldedUntilUs }: RoundToWrite): RoundWrite {
  return {
    shard,
    owner,
    term,
    rows: intake.rows,
    moves: [...intake.moves.values()].map((move) => ({ ...move })),
    lost: intake.lost.map(({ place }) => ({
      probeId: place.probeId,
      epoch: place.epoch,
      fromSeq: place.firstSeq,
      toSeq: place.lastSeq,
    })),
    refused: intake.rejected.map(({ probeId, reason, detail }) => ({ probeId, reason, detail })),
    edits: changes.edits,
    statuses: changes.statuses,
    outbox: changes.outbox,
    foldedUntilUs,
    configuredUs: current().configuredUs(shard),
  };
}

/** Locks the shard's row; goes on only for its owner and where the cursors are as the owner believes. */
function fence(client: Connection, write: RoundWrite, refuse: (error: unknown) => void, proceed: () => void): void {
  const { locks, results } = client.database;
  locks.withRow(write.shard, client, () => {
    const row = locks.row(write.shard);
    if (row.owner !== write.owner || row.term !== write.term) {
      locks.free(write.shard, client);
      refuse(new OwnershipLostError(`shard ${write.shard} is owned by another process: term ${write.term} is over`));
    } else if (results.movable(write.shard, write.moves) !== write.moves.length) {
      locks.free(write.shard, client);
      refuse(new OwnershipLostError(`shard ${write.shard}: cursors are not where memory has them`));
    } else proceed();
  });
}

async function commit(client: Connection, write: RoundWrite): Promise<void> {
  const { database } = client;
  await client.exchange<void>((answer, refuse) => {
    switch (database.fate()) {
      case 'commits':
        finish(client, write);
        answer();
        break;
      case 'commits_unheard':
        finish(client, write);
        client.terminate();
        break;
      case 'is_lost':
        client.terminate();
        break;
      case 'fails':
        database.locks.free(write.shard, client);
        refuse(new Error('the transaction could not be committed'));
        break;
    }
  });
}

/** What the transaction did is there, all at once, and its lock is free. */
function finish(client: Connection, write: RoundWrite): void {
  const { database } = client;
  const row = database.locks.row(write.shard);
  current().beforeCommit(write);
  row.renewedUs = database.engine.nowUs;
  if (write.foldedUntilUs !== undefined) row.foldedUntilUs = Math.max(row.foldedUntilUs ?? 0, write.foldedUntilUs);
  database.results.commit(write);
  database.locks.free(write.shard, client);
  current().afterCommit(write);
}
