/** How a table gets into a backup. */
export type TablePlan =
  /** With all its rows. */
  | { readonly kind: 'copied' }
  /** With all its rows; its partitions, one for each UTC day, are made again at the restore. */
  | { readonly kind: 'copied by day' }
  /** The same for partitions that are named by the first number that they hold; `makes` is the function that makes them for two numbers. */
  | { readonly kind: 'copied by number'; readonly makes: 'ensure_hour_partitions' | 'ensure_day_partitions' }
  /** Empty after a restore. */
  | { readonly kind: 'left out'; readonly reason: string };

const copied: TablePlan = { kind: 'copied' };
const leftOut = (reason: string): TablePlan => ({ kind: 'left out', reason });

/** Every table of the schema. One that is missing here stops the backup, and a test compares the list with the catalog. */
export const tablePlans: Readonly<Record<string, TablePlan>> = {
  schema_migrations: leftOut('stands in the header; the restore runs the migrations themselves'),
  installation: copied,
  sealed_keys: copied,
  outbox: copied,
  replicas: leftOut('processes that are gone; those that start note themselves'),
  idempotency_keys: leftOut('answers show what is shown only once, such as API keys, and are kept for a day only'),
  rate_limits: leftOut('counts the requests of the last minute; without it nobody is limited wrongly'),

  users: copied,
  sessions: leftOut(
    'a session that was ended after the backup would live again, and a refresh token that was rotated after it would count as stolen; everybody logs in again',
  ),
  account_tokens: leftOut('a link that was used after the backup could be used again; whoever needs one asks anew'),
  mail_files: leftOut('as mails, which carry them'),
  mails: leftOut('a mail that was sent after the backup would be sent again'),
  workspaces: copied,
  workspace_members: copied,
  workspace_invites: leftOut(
    'one that was used or withdrawn after the backup could be used again; the owner invites once more',
  ),
  api_keys: copied,
  access_tokens: copied,
  identities: copied,
  totp_factors: copied,
  recovery_codes: copied,
  passkeys: copied,
  channel_configs: copied,
  channel_targets: copied,
  pending_sign_ins: leftOut('live for ten minutes; whoever was at a provider begins again'),
  messenger_people: copied,
  messenger_groups: copied,
  messenger_link_tokens: leftOut('live for 15 minutes, and one that was used after the backup could be used again'),
  messenger_updates: leftOut('what people wrote to the bot then is not what they want now'),
  messenger_receivers: leftOut('the messenger itself knows what was confirmed'),
  messenger_pace: leftOut('when the bot wrote in the last minute'),
  messenger_departures: leftOut('groups that the bot was about to leave; at most it stays in one that nobody uses'),
  team_chat_requests: leftOut('live for ten minutes; whoever was choosing a room begins again'),
  used_proofs: leftOut('a proof is too old after an hour, used or not'),
  sign_in_challenges: leftOut('live for five minutes; whoever was asked for a second factor begins again'),
  second_factor_failures: leftOut('wrong codes of the last day; a restored installation counts anew'),
  audit_log: copied,
  live_events: leftOut('kept for a day, for streams that go on; after a restore they are told to read anew'),

  probes: copied,
  probe_certificates: copied,
  join_tokens: leftOut('live for a day at most, and one that was used after the backup could be used again'),
  probe_sessions: leftOut('streams to processes that are gone; probes open new ones'),
  monitors: copied,
  monitor_history: copied,
  monitor_groups: copied,
  monitor_group_members: copied,
  pauses: copied,
  assignments: copied,
  quarantines: copied,
  shards: copied,
  cursors: copied,
  rejected_batches: copied,
  lost_results: copied,
  lost_watch: copied,
  check_results: { kind: 'copied by day' },
  result_storage: copied,
  result_hours: { kind: 'copied by number', makes: 'ensure_hour_partitions' },
  result_days: { kind: 'copied by number', makes: 'ensure_day_partitions' },
  packing_jobs: copied,
  stale_hours: copied,
  result_evidence: copied,
  status_ranges: copied,
  probe_ranges: copied,
  diagnoses: copied,
  flapping: copied,
  monitor_expiries: copied,
  expiry_notices: copied,
  dnsbl_views: copied,
  dnsbl_runs: copied,
  heartbeats: copied,
  heartbeat_pings: copied,
  heartbeat_bodies: copied,
  heartbeat_ranges: copied,
  intake_watch: copied,
  intake_outages: copied,
  webhook_checks: copied,
  webhook_check_events: copied,
  webhook_check_ranges: copied,

  incidents: copied,
  incident_members: copied,
  incident_updates: copied,
  incident_templates: copied,

  maintenance: copied,
  maintenance_monitors: copied,
  maintenance_groups: copied,
  maintenance_heartbeats: copied,
  maintenance_webhook_checks: copied,
  maintenance_occurrences: copied,
  maintenance_subjects: copied,
  calendar_tokens: leftOut(
    'one that was rotated after the backup would open the calendar again; the owner makes a new one',
  ),

  alerts: copied,
  alert_subjects: copied,
  alert_occasions: copied,
  alert_told: copied,
  alert_links: copied,
  notifications: copied,
  deliveries: copied,
  push_subscriptions: copied,

  events: copied,
  event_inbox: copied,
  event_subjects: copied,
  scheduled_reports: copied,
  scheduled_report_subjects: copied,
  scheduled_report_recipients: copied,
  scheduled_report_runs: copied,
  scheduled_report_files: copied,
  status_pages: copied,
  status_page_items: copied,
  status_page_slugs: copied,
  status_page_domains: copied,
  status_page_files: copied,
  status_page_links: leftOut('live for 15 minutes, and one that was used after the backup could be used again'),
  status_page_subscribers: copied,
  status_page_news: copied,
  status_page_notices: copied,
  badges: copied,

  webhooks: copied,
  webhook_subjects: copied,
  webhook_deliveries: copied,
  webhook_hours: copied,
  webhook_latencies: copied,

  feedback: copied,
  feedback_mailing: copied,

  sla_corrections: copied,
  sla_ledger: copied,
  sla_progress: copied,
  subject_days: copied,
  subject_day_marks: copied,
  latency_days: copied,
  latency_day_marks: copied,
};

/** Types whose values mean something in their own cluster only: such a column takes its default when the row is restored. */
export const clusterTypes: readonly string[] = ['xid8', 'xid', 'pg_lsn', 'oid'];

/** What a restore changes in rows that came back, in its transaction. */
export function afterRestore(
  restoredAtMs: number,
  madeAt: string,
): readonly { readonly reason: string; readonly text: string; readonly values: readonly unknown[] }[] {
  return [
    {
      reason: 'the processes that owned the shards are gone',
      text: 'update shards set owner = null, renewed_at = null',
      values: [],
    },
    {
      reason: 'nobody works on what was leased',
      text: 'update outbox set lease_until = null where lease_until is not null',
      values: [],
    },
    {
      reason:
        'messages that waited at the backup have mostly arrived since; what lasts is told by its reminders and its end',
      text: "update notifications set status = 'suppressed', reason = 'restored', done_at = now(), target = null where status = 'queued'",
      values: [],
    },
    {
      reason: 'the same of messages that were under way',
      text: "update deliveries set status = 'cancelled', done_at = now(), target = null, lease_until = null, leased_by = null where status = 'queued'",
      values: [],
    },
    {
      reason:
        'reports that waited or were made at the backup have mostly been mailed since; the files of a period can be made by hand',
      text: "update scheduled_report_runs set status = 'skipped', error = 'restored', finished_at = now() where status in ('queued', 'running')",
      values: [],
    },
    {
      reason: 'what subscribers of pages had not been told at the backup, most of them have been told since',
      text: 'update status_page_notices set told_id = wanted_id, claimed_id = null, leased_until = null where told_id < wanted_id',
      values: [],
    },
    {
      reason:
        'a probe may know assignments of the time that was cut off: the revisions of that time are never used again, and a probe that knows one gets a snapshot',
      text: 'update probes set assignment_revision = greatest(assignment_revision, $1)',
      values: [restoredAtMs],
    },
    {
      reason: 'certificates of the time that was cut off are known by their dates',
      text: 'update installation set restored_at = to_timestamp($1 / 1000.0), restored_backup_at = $2, restored_revision = $1',
      values: [restoredAtMs, madeAt],
    },
  ];
}

/**
 * From where an identity column goes on after a restore: numbers that were given out between backup and restore are still known outside (results
 * in the logs of probes, certificates, bookmarks) and must not come to mean something else, also not when the same backup is restored twice. Nothing says how
 * many there were, so room is left by the time that has passed.
 * @param last highest number in the backup
 */
export function resumeIdentity(last: number, madeAtMs: number, restoredAtMs: number): number {
  const perSecond = 4;
  const seconds = Math.max(0, Math.ceil((restoredAtMs - madeAtMs) / 1_000));
  return last + 1_000 + Math.min(perSecond * seconds, 50_000_000);
}
