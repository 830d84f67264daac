import type { TestContext } from '@parallax/testkit';
import { engineRecordsIn } from '../../testing/engine-records.ts';

export type SeenEvent = { readonly event: string; readonly id: string | undefined; readonly data: unknown };

export type WatchedStream = {
  readonly status: number;
  readonly headers: Headers;
  /** The next event; undefined when the stream is over. Comments are left out. */
  readonly next: () => Promise<SeenEvent | undefined>;
  readonly close: () => void;
};

/** Opens a stream as a browser would, and reads it event by event. @throws when one shows a record of the engine */
export async function watch(
  t: TestContext,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<WatchedStream> {
  const leaving = new AbortController();
  const response = await fetch(url, { headers, signal: leaving.signal });
  t.teardown(() => leaving.abort());
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const next = async (): Promise<SeenEvent | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end === -1) {
        const part = await reader?.read();
        if (part === undefined || part.done) return undefined;
        text += part.value;
        continue;
      }
      const fields = Object.fromEntries(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
      );
      text = text.slice(end + 2);
      if (fields['event'] !== undefined) {
        const data = JSON.parse(fields['data'] ?? 'null') as unknown;
        const records = engineRecordsIn(data);
        if (records.length > 0) throw new Error(`${fields['event']} shows ${records.join(', ')}`);
        return { event: fields['event'], id: fields['id'], data };
      }
    }
  };
  return { status: response.status, headers: response.headers, next, close: () => leaving.abort() };
}
