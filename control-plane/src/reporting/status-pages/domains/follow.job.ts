import type { Logger } from '@parallax/telemetry';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { statusPagesSubject } from '../../../platform/bus/subjects.ts';
import { repeat } from '../../../platform/repeat.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { servedDomains } from './domains.queries.ts';
import { keepDomains } from './kept-domains.gateway.ts';
import type { ServedDomains } from './served-domains.ts';

/** Changes that come together are read together. */
const gatherMs = 100;
/** A hint that is lost costs this. */
const everyMs = 30_000;

const pageHint = z.object({ workspace_id: z.number() });

/** Reads the verified domains, and those of a workspace again when one of its pages is another. While the database is away they stay as they are. */
export async function followDomains(
  { bus, database, dataDir }: Pick<Context, 'bus' | 'database' | 'dataDir'>,
  domains: ServedDomains,
  log: Logger,
): Promise<RunningService> {
  const changed = new Set<number>();
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> = Promise.resolve();
  let keptText = '';
  const tell = (error: unknown): void =>
    log.warn({ err: error }, 'domains of status pages cannot be read; they stay as they are');
  const keep = async (): Promise<void> => {
    const text = JSON.stringify(domains.all());
    if (dataDir === undefined || text === keptText) return;
    keptText = text;
    await keepDomains(dataDir, domains.all(), log);
  };
  const readSome = async (): Promise<void> => {
    const ids = new Set(changed);
    changed.clear();
    try {
      domains.take(await servedDomains(database.worker, [...ids]), ids);
      await keep();
    } catch (error) {
      tell(error);
    }
  };
  // One after another: what was read later is newer.
  const after = (work: () => Promise<void>): Promise<void> => (reading = reading.then(work));
  const readAll = async (): Promise<void> => {
    domains.take(await servedDomains(database.worker));
    await keep();
  };
  const listening = bus.listen(statusPagesSubject, (message) => {
    const hint = pageHint.safeParse(message);
    if (!hint.success) return;
    changed.add(hint.data.workspace_id);
    timer ??= setTimeout(() => {
      timer = undefined;
      void after(readSome);
    }, gatherMs);
  });
  const again = repeat({
    everyMs,
    work: () => after(() => readAll().catch(tell)),
    onError: tell,
  });
  await after(() => readAll().catch(tell));
  return {
    stop: async () => {
      listening.stop();
      clearTimeout(timer);
      await again.stop();
      await reading;
    },
  };
}
