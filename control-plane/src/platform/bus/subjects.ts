/**
 * The core subjects of the broker, by which processes of the control plane tell each other what is new. Whoever speaks and whoever
 * listens often lie in capabilities that may not know each other, so the names have their one home here.
 */

/** What must reach the replica that holds a probe's session. */
export function dispatchSubject(probeId: number): string {
  return `dispatch.${probeId}`;
}

/** A hint to the owner of a shard: the configuration of one of its monitors changed. */
export function configurationSubject(shard: number): string {
  return `config.${shard}`;
}

/** A hint: there is a new probe, or one was revoked. */
export const probesChangedSubject = 'probes.changed';

/** A hint that wakes the workers after a commit; they also look every 500 ms. */
export const outboxSubject = 'outbox';

/** A hint that something was kept for those who watch live. */
export const liveEventsSubject = 'live.events';

/** A hint to the owners of shards: for some seconds somebody wants to see results as they come. */
export const liveWantedSubject = 'live.wanted';

/** Results as they are committed, while they are wanted. */
export const liveResultsSubject = 'live.results';

/** A hint, after the commit, that the status of monitors is another. Told or not: this is before rule 8 of the consensus lets others know. */
export const statusesSubject = 'monitors.statuses';

/** A hint that there is something to tell people, or to send; it is looked for every 250 ms anyway. */
export const alertsSubject = 'alerts';

/** A hint, after the commit, that a scheduled report is to be made now, or at another time. */
export const scheduledReportsSubject = 'scheduled-reports';

/** A hint, after the commit, that deliveries of webhooks are due. */
export const webhooksSubject = 'webhooks';

/** A hint that state changes wait to be made events of; it comes before the commit. */
export const eventInboxSubject = 'events.inbox';

/** A hint, after the commit, that there are new events to read. */
export const eventsSubject = 'events';

/** A hint, after the commit, that the key of the badge `id` is good no more. */
export const badgesSubject = 'badges';

/** A hint, after the commit, that status pages of `workspace_id` are to be read anew. */
export const statusPagesSubject = 'status-pages';
