import t from 'tap';
import type { LiveResult } from './live-results.ts';
import type { LiveEvent } from './queries.ts';
import { LiveStream } from './stream.ts';

const at = (id: number) => ({ atMs: 0, xid: 1n, id: BigInt(id) });
const event = (id: number, workspaceId = 1): LiveEvent => ({
  cursor: at(id),
  workspaceId,
  kind: 'monitor.transition',
  payload: { id },
});
const result = (monitorId: number, workspaceId: number, ms: number): LiveResult => ({
  monitor_id: monitorId,
  workspace_id: workspaceId,
  probe_id: 1,
  at: '2026-11-22T00:00:00.000Z',
  outcome: 'ok',
  response_time_ms: ms,
});

/** A stream of somebody who sees workspaces 1 and 2 at first, opened at the beginning. */
function opened(workspaceId?: number) {
  const seen = { visible: new Set([1, 2]), nowMs: 0, text: '', looks: 0 };
  const stream = new LiveStream(
    {
      write: (text) => {
        seen.text += text;
        return true;
      },
      end: () => undefined,
      visible: async () => {
        seen.looks += 1;
        return seen.visible;
      },
      nowMs: () => seen.nowMs,
    },
    { after: at(0), workspaceId, wantsResults: true },
  );
  /** What was told since the last call: identifiers of events, and `monitor:ms` of results. */
  const told = async (): Promise<string[]> => {
    seen.text = '';
    await stream.flush();
    return [...seen.text.matchAll(/^data: (.*)$/gm)].flatMap(([, data = '']) => {
      const { id, results = [] } = JSON.parse(data) as { id?: number; results?: LiveResult[] };
      return [
        ...(id === undefined ? [] : [`${id}`]),
        ...results.map((each) => `${each.monitor_id}:${each.response_time_ms}`),
      ];
    });
  };
  return { stream, seen, told };
}

void t.test('what was missed and what was offered meanwhile are told once, in order', async (t) => {
  const { stream, told } = opened();
  stream.offer([event(2), event(3)]);
  t.same(await told(), [], 'nothing before it is open');
  stream.open('', { events: [event(1), event(2)], upTo: at(2) });
  stream.offer([event(2), event(3), event(4)]);
  t.same(await told(), ['1', '2', '3', '4']);
  stream.offer([event(4)]);
  t.same(await told(), []);
  stream.offer([event(5, 3), event(6, 2)]);
  t.same(await told(), ['6'], 'and nothing of a workspace that may not be seen');
});

void t.test('results of a monitor are told once in a second, the latest, and of what may be seen then', async (t) => {
  const { stream, seen, told } = opened();
  stream.open('', { events: [], upTo: at(0) });
  stream.offerResults([result(1, 1, 10), result(1, 1, 11), result(2, 2, 20), result(3, 3, 30)]);
  t.same(await told(), ['1:11', '2:20'], 'never of another workspace');
  stream.offerResults([result(1, 1, 12)]);
  seen.nowMs = 999;
  t.same(await told(), []);
  stream.offerResults([result(1, 1, 13), result(2, 2, 21)]);
  seen.nowMs = 1_000;
  seen.visible = new Set([1]);
  t.same(await told(), ['1:13'], 'the right to the other was taken away meanwhile');
  seen.visible = new Set([1, 2]);
  seen.nowMs = 2_000;
  t.same(await told(), [], 'and it is not told later');
});

void t.test('rights are looked at before each telling, and a stream of one workspace tells of no other', async (t) => {
  const { stream, seen, told } = opened(1);
  stream.open('', { events: [event(1, 2), event(2, 1)], upTo: at(2) });
  stream.offer([event(3, 2), event(4, 1)]);
  stream.offerResults([result(1, 1, 10), result(2, 2, 20)]);
  t.same(await told(), ['2', '4', '1:10']);
  t.equal(seen.looks, 1);
  stream.offer([event(5, 1)]);
  seen.visible = new Set([2]);
  t.same(await told(), []);
  t.match(seen.text, /event: end\ndata: \{"code":"not_found"/);
  t.ok(stream.isOver);
});
