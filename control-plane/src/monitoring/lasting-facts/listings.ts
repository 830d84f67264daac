import type { OutboxEntry } from '../../platform/outbox/enqueue.ts';
import type { SeenFacts } from './read-facts.ts';

/** What probes heard from blocklists, for whoever puts it together: `dnsbl.seen`, one monitor's in order. */
export function listingsSeen(seen: readonly SeenFacts[]): OutboxEntry[] {
  return seen.flatMap(({ eUs, monitorId, voter, probeRevision, facts: { listings } }) => {
    if (listings === undefined) return [];
    const at = new Date(eUs / 1_000).toISOString();
    const payload = { monitor_id: monitorId, probe_id: voter, probe_revision: probeRevision, at, listings };
    return [{ key: `monitor:${monitorId}`, kind: 'dnsbl.seen', payload }];
  });
}
