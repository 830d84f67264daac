import type { Connection } from './connection.ts';

type Answer = { rows: unknown[]; rowCount: number };

const rows = (...found: unknown[]): Answer => ({ rows: found, rowCount: found.length });
/** As the claim of a shard says. */
const hungAfterUs = 10_000_000;

/**
 * The statements by which a shard is claimed and given up, known by their words. One that is not known here fails, so that the model is
 * brought up to what the product says.
 */
export function shardStatement(
  connection: Connection,
  text: string,
  values: readonly unknown[],
  answer: (value: Answer) => void,
  refuse: (error: unknown) => void,
): void {
  const { locks, engine } = connection.database;
  const shard = Number(text.includes('pg_try_advisory_lock') ? values[1] : values[0]);
  const hasHung = (): boolean => {
    const { owner, renewedUs } = locks.row(shard);
    return owner === null || renewedUs === null || renewedUs < engine.nowUs - hungAfterUs;
  };
  /** Changes the row, which a transaction may have. */
  const update = (change: () => Answer): void =>
    locks.withRow(shard, connection, () => {
      const changed = change();
      locks.free(shard, connection);
      answer(changed);
    });

  if (text.includes('as claimable from shards')) {
    answer(rows({ claimable: hasHung() || locks.holder(shard) === undefined }));
  } else if (text.includes('pg_try_advisory_lock')) {
    answer(rows({ locked: locks.tryAdvisory(shard, connection) }));
  } else if (text.startsWith('select from shards where shard = $1 and')) {
    answer(hasHung() ? rows({}) : rows());
  } else if (text.includes('pg_terminate_backend')) {
    locks.holder(shard)?.terminate();
    answer(rows({}));
  } else if (text.startsWith('update shards set owner = $2, term = term + 1')) {
    update(() => {
      const row = locks.row(shard);
      row.owner = String(values[1]);
      row.term += 1;
      row.renewedUs = engine.nowUs;
      connection.database.onClaimed?.(shard, row.term, row.owner);
      return rows({ term: String(row.term), folded_us: row.foldedUntilUs === null ? null : String(row.foldedUntilUs) });
    });
  } else if (text.startsWith('update shards set owner = null, renewed_at = null')) {
    update(() => {
      const row = locks.row(shard);
      if (row.owner !== values[1] || row.term !== values[2]) return rows();
      row.owner = null;
      row.renewedUs = null;
      return rows({});
    });
  } else refuse(new Error(`the model of the database does not know the statement: ${text.slice(0, 200)}`));
}
