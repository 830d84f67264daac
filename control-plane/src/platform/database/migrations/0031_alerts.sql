-- Alerts: who is told of what. An alert says whom; an occasion is what there is to tell; a notification is that one target is told one thing of
-- one occasion; a delivery is the message that carries one notification, or many.
create table alerts (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspaces,
  -- Whose channel configurations its targets name: who made it.
  owner_id integer not null references users on delete cascade,
  name text not null check (length(name) between 1 and 200),
  description text not null default '' check (length(description) <= 2000),
  is_active boolean not null default true,
  -- Made with the account; one for each owner.
  is_default boolean not null default false,
  -- Scope: all, or what `alert_subjects` and `tags` name.
  covers_all boolean not null default false,
  tags text[] not null default '{}' check (cardinality(tags) <= 20),
  -- Dotted names: `alertEvents` in alert.ts.
  events text[] not null check (cardinality(events) between 1 and 50),
  -- [{"after_seconds", "targets": [{"channel", "config_id", "target", "locale", "timezone"}]}]; ends on acknowledge or end.
  steps jsonb not null check (jsonb_typeof(steps) = 'array' and jsonb_array_length(steps) between 1 and 10),
  -- One target; told when a target of a step could not be for 60 s, or never can be.
  failover jsonb check (jsonb_typeof(failover) = 'object'),
  -- From the onset; nothing is told before.
  min_duration_seconds integer not null default 0 check (min_duration_seconds between 0 and 86400),
  reminder_interval_seconds integer check (reminder_interval_seconds between 60 and 604800),
  -- {"windows": [{"days": [1..7, Monday first], "start": "22:00", "end": "07:00"}], "timezone", "except_severity"}
  quiet_hours jsonb check (jsonb_typeof(quiet_hours) = 'object'),
  muted_until timestamptz,
  notify_on_recovery boolean not null default true,
  -- When it was made, switched on or its scope widened: steps are counted from then where something was failing already.
  active_since timestamptz not null default now(),
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workspace_id, id)
);
create index alerts_workspace on alerts (workspace_id, id);
create index alerts_owner on alerts (owner_id);
create unique index alerts_default on alerts (owner_id) where is_default;

-- What a scope names beside tags: one thing a row. All are of its workspace, always: a monitor that is moved elsewhere must have left it.
create table alert_subjects (
  id integer generated always as identity primary key,
  workspace_id integer not null,
  alert_id integer not null,
  monitor_id integer,
  group_id integer,
  heartbeat_id integer,
  webhook_check_id integer,
  check (num_nonnulls(monitor_id, group_id, heartbeat_id, webhook_check_id) = 1),
  unique nulls not distinct (alert_id, monitor_id, group_id, heartbeat_id, webhook_check_id),
  foreign key (workspace_id, alert_id) references alerts (workspace_id, id) on delete cascade,
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id),
  foreign key (workspace_id, group_id) references monitor_groups (workspace_id, id) on delete cascade,
  foreign key (workspace_id, heartbeat_id) references heartbeats (workspace_id, id) on delete cascade,
  foreign key (workspace_id, webhook_check_id) references webhook_checks (workspace_id, id) on delete cascade
);
create index alert_subjects_monitor on alert_subjects (monitor_id) where monitor_id is not null;
create index alert_subjects_group on alert_subjects (group_id) where group_id is not null;
create index alert_subjects_heartbeat on alert_subjects (heartbeat_id) where heartbeat_id is not null;
create index alert_subjects_webhook_check on alert_subjects (webhook_check_id) where webhook_check_id is not null;

-- What there is to tell, from its beginning to its end. Written by consumers of the outbox, by upsert: doing it again changes nothing.
create table alert_occasions (
  id bigint generated always as identity primary key,
  workspace_id integer not null references workspaces,
  -- `incident:17`, `certificate:3:2026-01-01T00:00:00.000Z:14`, `degraded:3:…`: what it is the same by.
  key text not null check (length(key) between 1 and 300),
  -- What alerts want it by. Of an incident, `monitor.down` and the like stand with its members.
  event text not null,
  -- The one subject; null of an incident, whose members say it.
  subject_type text check (subject_type in ('monitor', 'heartbeat', 'webhook_check', 'probe', 'maintenance')),
  subject_id integer,
  -- No foreign key: the history outlives the incident.
  incident_id integer,
  title text not null check (length(title) between 1 and 200),
  -- What a message says beyond the columns.
  facts jsonb not null default '{}' check (jsonb_typeof(facts) = 'object'),
  severity text not null check (severity in ('minor', 'major', 'critical')),
  -- It has an end, of which people are told too; false: it is told once and never again.
  is_lasting boolean not null,
  -- Onset, and when it became known.
  started_at timestamptz not null,
  opened_at timestamptz not null,
  ended_at timestamptz,
  resolution text,
  acknowledged_at timestamptz,
  -- The number of the last change that came, and of the one by which it last became a problem.
  seq integer not null check (seq >= 1),
  problem_seq integer not null check (problem_seq >= 1),
  -- Changes that nobody has decided on: [{"seq", "kind", "reason", "at"}]
  pending jsonb not null default '[]' check (jsonb_typeof(pending) = 'array'),
  -- When it must be looked at again; null: when something changes.
  due_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  unique (workspace_id, key),
  check ((subject_type is null) = (subject_id is null))
) with (fillfactor = 70);
create index alert_occasions_due on alert_occasions (due_at) where due_at is not null;
create index alert_occasions_open on alert_occasions (workspace_id) where ended_at is null and is_lasting;
create index alert_occasions_subject on alert_occasions (subject_type, subject_id, started_at) where subject_id is not null;
create index alert_occasions_incident on alert_occasions (incident_id) where incident_id is not null;
create index alert_occasions_created on alert_occasions (created_at);

-- What each target was told of an occasion: decisions compare it with what is so now.
create table alert_told (
  workspace_id integer not null,
  occasion_id bigint not null references alert_occasions on delete cascade,
  -- The same for what reaches the same people by the same way.
  target_key text not null,
  -- Which alert told it first; no foreign key, it may go.
  alert_id integer not null,
  owner_id integer not null,
  target jsonb not null,
  -- `none`: nothing yet, or what was queued was withdrawn unsent.
  state text not null check (state in ('none', 'problem', 'over')),
  -- The problem that it was told of, and the highest step that did.
  problem_seq integer not null default 0,
  step smallint not null default 0,
  reminders integer not null default 0,
  -- Changes up to this number were told, or need not be.
  told_seq integer not null default 0,
  -- When the last message of a problem was queued; reminders are counted from it.
  last_at timestamptz,
  -- Of the first message of this problem: queued, delivered, given up.
  queued_at timestamptz,
  sent_at timestamptz,
  lost_at timestamptz,
  -- Since when something that is to be said is held back, and by what: what is over by the time that it may be said is told as such.
  held_at timestamptz,
  held_by text,
  -- By the reader; nothing but the end is told until then.
  snoozed_until timestamptz,
  primary key (occasion_id, target_key)
);

-- Messages under way and sent. The text and the target's full address stand here until it is done; then the masked one remains.
create table deliveries (
  id bigint generated always as identity primary key,
  workspace_id integer not null references workspaces,
  owner_id integer not null,
  target_key text not null,
  -- {"channel", "config_id", "target", "locale", "timezone"}; null when it is done.
  target jsonb,
  channel text not null,
  config_id integer,
  target_masked text not null,
  -- What it is: `opened` … `digest`.
  kind text not null,
  -- The eldest notification that it carries: of two that tell of the same, the one with the lower number goes first.
  first_notification_id bigint not null default 0,
  status text not null default 'queued' check (status in ('queued', 'sent', 'failed', 'cancelled')),
  attempts smallint not null default 0,
  next_attempt_at timestamptz,
  -- Who sends it, until when it is theirs: one whose time has passed may have been sent or not, and is sent again.
  leased_by text,
  lease_until timestamptz,
  error_code text,
  error_fault text,
  error text check (length(error) <= 1000),
  latency_ms integer,
  -- The service's own name of the message.
  reference text check (length(reference) <= 300),
  -- What was said, at most 4,000 characters.
  text text check (length(text) <= 4000),
  created_at timestamptz not null default clock_timestamp(),
  done_at timestamptz,
  check ((status = 'queued') = (done_at is null)),
  check ((status = 'queued') = (target is not null)),
  check ((lease_until is null) = (leased_by is null))
) with (fillfactor = 70);
create index deliveries_due on deliveries (next_attempt_at) where status = 'queued';
create index deliveries_open on deliveries (target_key, id) where status = 'queued';
create index deliveries_leased on deliveries (target_key) where lease_until is not null;
create index deliveries_target on deliveries (target_key, created_at);
create index deliveries_done on deliveries (done_at) where done_at is not null;
create index deliveries_config on deliveries (config_id, id);

-- The history: that a target is told one thing of one occasion, or why it is not. Kept for 90 days, also when its alert is gone.
create table notifications (
  id bigint generated always as identity primary key,
  workspace_id integer not null references workspaces,
  occasion_id bigint not null references alert_occasions on delete cascade,
  alert_id integer references alerts on delete set null,
  alert_name text not null,
  event text not null,
  kind text not null check (kind in (
    'opened', 'updated', 'reminder', 'escalated', 'acknowledged', 'resolved', 'recovered', 'was_down', 'all_clear', 'information')),
  -- Number of the change; of a reminder its count; of an escalation 10 × the problem's number + the step.
  seq integer not null,
  -- The subject, or the first member; for histories of one subject.
  subject_type text,
  subject_id integer,
  title text not null,
  target_key text not null,
  owner_id integer not null,
  target jsonb,
  channel text not null,
  config_id integer,
  target_masked text not null,
  status text not null check (status in ('held', 'queued', 'sent', 'failed', 'suppressed', 'deduplicated')),
  -- Why it is held or suppressed: quiet_hours, muted, maintenance, flapping, over, folded, target_unusable …
  reason text,
  -- Held: until when, where that is known. Queued: not before.
  due_at timestamptz,
  -- It ends quiet hours: told together with others.
  after_quiet boolean not null default false,
  delivery_id bigint references deliveries on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  done_at timestamptz
) with (fillfactor = 70);
-- However many alerts want it and however often it is decided, a target is told a thing once.
create unique index notifications_once on notifications (occasion_id, kind, seq, target_key) where status <> 'deduplicated';
create unique index notifications_deduplicated on notifications (occasion_id, kind, seq, target_key, alert_id) where status = 'deduplicated';
create index notifications_unbundled on notifications (due_at) where status = 'queued' and delivery_id is null;
create index notifications_waiting on notifications (target_key, id) where status = 'queued' and delivery_id is null;
create index notifications_queued on notifications (occasion_id, target_key, id) where status = 'queued';
create index notifications_delivery on notifications (delivery_id) where delivery_id is not null;
create index notifications_workspace on notifications (workspace_id, id desc);
create index notifications_alert on notifications (alert_id, id desc) where alert_id is not null;
create index notifications_subject on notifications (subject_type, subject_id) where subject_id is not null;
create index notifications_created on notifications (created_at);

alter table alerts enable row level security;
alter table alerts force row level security;
create policy alerts_of_tenant on alerts using (workspace_id = any (current_workspaces()));
alter table alert_subjects enable row level security;
alter table alert_subjects force row level security;
create policy alert_subjects_of_tenant on alert_subjects using (workspace_id = any (current_workspaces()));
alter table alert_occasions enable row level security;
alter table alert_occasions force row level security;
create policy alert_occasions_of_tenant on alert_occasions using (workspace_id = any (current_workspaces()));
alter table alert_told enable row level security;
alter table alert_told force row level security;
create policy alert_told_of_tenant on alert_told using (workspace_id = any (current_workspaces()));
alter table deliveries enable row level security;
alter table deliveries force row level security;
create policy deliveries_of_tenant on deliveries using (workspace_id = any (current_workspaces()));
alter table notifications enable row level security;
alter table notifications force row level security;
create policy notifications_of_tenant on notifications using (workspace_id = any (current_workspaces()));

grant select, insert, update, delete on alerts, alert_subjects to parallax_api;
grant usage, select on sequence alerts_id_seq, alert_subjects_id_seq to parallax_api;
-- Histories, hooks of moved, reset and deleted subjects, and changes of alerts, after which occasions are looked at again.
grant select, update, delete on alert_occasions, notifications, deliveries to parallax_api;
grant select, update, delete on alert_told to parallax_api;
