import { z } from 'zod';
import type { Transaction } from '../../../../platform/database/pools.ts';
import type { OutboxRow } from '../../../../platform/outbox/consumer.ts';
import { beginning, occasionTitle } from '../change.ts';
import { endOccasions, monitorsOf, writeChanges } from '../queries.ts';
import type { Ending } from '../queries.ts';
import { instant, monitorSubject, ofMonitor } from '../work.ts';
import type { Work } from '../work.ts';

/* What a check says of a monitor beside its status: the end of a certificate or a domain, and blocklists. */

const listing = ofMonitor.extend({ provider: z.string(), at: instant });

/** Days before the end from which it is more than a notice. */
const urgentDays = 3;

export function onExpiring(what: 'certificate' | 'domain'): Work {
  const payload = ofMonitor.extend({ not_after: instant, threshold_days: z.number(), occasion: z.string() });
  return async (transaction, rows, nowMs) => {
    const told = rows.map((row) => payload.parse(row.payload));
    const monitors = await monitorsOf(
      transaction,
      told.map(({ monitor_id: id }) => id),
    );
    const begun = told.flatMap(({ monitor_id: id, not_after: notAfterMs, threshold_days: days, occasion }) => {
      const monitor = monitors.get(id);
      if (monitor === undefined) return [];
      return beginning({
        workspaceId: monitor.workspace_id,
        key: occasion,
        event: `${what}.expiring`,
        subject: monitorSubject(id),
        title: occasionTitle(monitor.name, `the ${what} ends within ${days} days`, ': '),
        facts: { name: monitor.name, not_after: new Date(notAfterMs).toISOString(), threshold_days: days },
        severity: days <= urgentDays ? 'major' : 'minor',
        startedMs: nowMs,
        isLasting: false,
      });
    });
    await writeChanges(transaction, begun, nowMs);
  };
}

export async function onListed(transaction: Transaction, rows: readonly OutboxRow[], nowMs: number): Promise<void> {
  const told = rows.map((row) => listing.parse(row.payload));
  const monitors = await monitorsOf(
    transaction,
    told.map(({ monitor_id: id }) => id),
  );
  const begun = told.flatMap(({ monitor_id: id, provider, at }) => {
    const monitor = monitors.get(id);
    if (monitor === undefined) return [];
    return beginning({
      workspaceId: monitor.workspace_id,
      key: `dnsbl:${id}:${provider}:${new Date(at).toISOString()}`,
      event: 'dnsbl.listed',
      subject: monitorSubject(id),
      title: occasionTitle(monitor.name, `is listed by ${provider}`),
      facts: { name: monitor.name, provider },
      severity: 'major',
      startedMs: at,
    });
  });
  await writeChanges(transaction, begun, nowMs);
}

export async function onDelisted(transaction: Transaction, rows: readonly OutboxRow[], nowMs: number): Promise<void> {
  const endings = rows.map(({ payload }): Ending => {
    const { monitor_id: id, provider, at } = listing.parse(payload);
    return { subject: monitorSubject(id), events: ['dnsbl.listed'], provider, atMs: at, resolution: 'auto' };
  });
  await endOccasions(transaction, endings, nowMs);
}
