import type { CommonQueryMethods } from 'slonik';
import { decodeChunk } from '../../packed/chunk.ts';
import { ResultColumns } from '../../packed/columns.ts';
import { firstNotBefore } from '../block.ts';
import { notCovered, splitAt } from '../cover.ts';
import { readCover } from '../rollups/queries.ts';
import type { Rollup } from '../rollups/queries.ts';
import { chunksOf, oldestCounted } from '../rows/queries.ts';
import type { CountedRow, StoredChunk } from '../rows/queries.ts';
import { hourUs } from '../time.ts';
import type { Span } from '../time.ts';
import type { WantedProbes } from '../window.ts';

/** What takes in all results of a window, each once, in any order. */
export type Sink = {
  /** Whether the summary of this hour may stand for its results. */
  readonly takesHour: (fromHour: number) => boolean;
  readonly addRollup: (rollup: Rollup) => void;
  /** Rows of one probe from one index on and below another one. */
  readonly addRows: (probeId: number, rows: ResultColumns, from: number, to: number) => void;
  readonly addRow: (row: CountedRow) => void;
};

/** Results that are read at once. */
const rowsAtOnce = 20_000;

/**
 * Hands all results of a window to a sink: whole days and hours as summaries, the rest as rows.
 * @param window not empty
 * @param withDays whether the summary of a day may stand for its hours
 */
export async function sumUp(
  connection: CommonQueryMethods,
  monitorId: number,
  window: Span & { readonly probeId?: WantedProbes },
  sink: Sink,
  withDays: boolean,
): Promise<void> {
  const cover = await readCover(connection, monitorId, window, { withDays });
  const { hotFromUs, rollups, rest } = cover;
  const [taken, broken] = partition(
    rollups,
    (rollup) => rollup.toHour - rollup.fromHour > 1 || sink.takesHour(rollup.fromHour),
  );
  for (const rollup of taken) sink.addRollup(rollup);

  const [brokenHot, brokenCold] = partition(broken, (rollup) => rollup.fromHour * hourUs >= hotFromUs);
  addChunks(
    cover.edges.filter(({ hour }) => hour * hourUs < hotFromUs),
    window,
    sink,
  );
  for (const hours of batches(brokenCold)) {
    addChunks(await chunksOf(connection, monitorId, hours, window.probeId), window, sink);
  }

  const missing = splitAt(brokenHot.length === 0 ? rest : notCovered(window, taken), hotFromUs).after;
  const { before, after } = splitAt(missing, cover.recent.fromUs);
  for (const span of before) await addHotRows(connection, monitorId, span, window.probeId, sink);
  for (const row of cover.recent.rows) if (after.some((span) => holds(span, row.eUs))) sink.addRow(row);
}

const holds = ({ fromUs, toUs }: Span, us: number): boolean => fromUs <= us && us < toUs;

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  const first: Item[] = [];
  const second: Item[] = [];
  for (const item of items) (isFirst(item) ? first : second).push(item);
  return [first, second];
}

/** Hours that are read together, so that their chunks never take much space. */
function batches(rollups: readonly Rollup[]): number[][] {
  const all: Set<number>[] = [];
  let results = Number.POSITIVE_INFINITY;
  for (const rollup of rollups.toSorted((one, other) => one.fromHour - other.fromHour)) {
    results += rollup.results;
    if (results > rowsAtOnce && all.at(-1)?.has(rollup.fromHour) !== true) {
      all.push(new Set());
      results = rollup.results;
    }
    all.at(-1)?.add(rollup.fromHour);
  }
  return all.map((hours) => [...hours]);
}

function addChunks(chunks: readonly StoredChunk[], { fromUs, toUs }: Span, sink: Sink): void {
  const rows = new ResultColumns();
  for (const { probeId, chunk } of chunks) {
    decodeChunk(chunk, rows);
    sink.addRows(probeId, rows, firstNotBefore(rows, fromUs), firstNotBefore(rows, toUs));
  }
}

async function addHotRows(
  connection: CommonQueryMethods,
  monitorId: number,
  span: Span,
  probeId: WantedProbes,
  sink: Sink,
): Promise<void> {
  let { fromUs } = span;
  let take = rowsAtOnce;
  for (;;) {
    const rows = await oldestCounted(connection, monitorId, { fromUs, toUs: span.toUs }, { probeId, take });
    const isLast = rows.length < take;
    const lastUs = rows.at(-1)?.eUs ?? 0;
    // What begins at one instant is not torn apart: the next reading begins there.
    const whole = isLast ? rows : rows.filter((row) => row.eUs < lastUs);
    for (const row of whole) sink.addRow(row);
    if (isLast) return;
    if (whole.length === 0) take *= 2;
    fromUs = lastUs;
  }
}
