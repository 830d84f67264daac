-- Addresses of other systems that are told of events.
create table webhooks (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspaces,
  -- Who made it: told by mail when it fails for long.
  maker_id integer references users on delete set null,
  name text not null check (length(name) between 1 and 200),
  description text not null default '' check (length(description) <= 2000),
  is_active boolean not null default true,
  disabled_reason text check (disabled_reason in ('failing', 'gone', 'queue_full')),
  -- {"url", "headers", "secret", "key", "previous": {"secret", "key"} | null}
  sealed bytea not null,
  origin text not null,
  header_names text[] not null,
  public_key text not null,
  previous_until timestamptz,
  events text[] not null check (cardinality(events) between 1 and 50),
  covers_all boolean not null,
  tags text[] not null default '{}' check (cardinality(tags) <= 20),
  during_maintenance text not null check (during_maintenance in ('send', 'skip')),
  signature text not null check (signature in ('v1', 'v1a', 'both')),
  content text not null check (content in ('full', 'thin')),
  max_per_second integer check (max_per_second between 1 and 1000),
  -- What the sender knows; none of it counts as a change.
  paced_at timestamptz,
  is_slow boolean not null default false,
  failing_since timestamptz,
  last_failure_at timestamptz,
  failures integer not null default 0,
  mails_sent smallint not null default 0,
  last_success_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  unique (workspace_id, id)
);
create index webhooks_workspace on webhooks (workspace_id, id) where deleted_at is null;
create index webhooks_maker on webhooks (maker_id);
create index webhooks_deleted on webhooks (id) where deleted_at is not null;
create index webhooks_failing on webhooks (failing_since) where failing_since is not null and is_active;
create index webhooks_paced on webhooks (paced_at) where max_per_second is not null;

create table webhook_subjects (
  id integer generated always as identity primary key,
  workspace_id integer not null,
  webhook_id integer not null,
  monitor_id integer,
  group_id integer,
  heartbeat_id integer,
  webhook_check_id integer,
  check (num_nonnulls(monitor_id, group_id, heartbeat_id, webhook_check_id) = 1),
  unique nulls not distinct (webhook_id, monitor_id, group_id, heartbeat_id, webhook_check_id),
  foreign key (workspace_id, webhook_id) references webhooks (workspace_id, id) on delete cascade,
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id),
  foreign key (workspace_id, group_id) references monitor_groups (workspace_id, id) on delete cascade,
  foreign key (workspace_id, heartbeat_id) references heartbeats (workspace_id, id) on delete cascade,
  foreign key (workspace_id, webhook_check_id) references webhook_checks (workspace_id, id) on delete cascade
);
create index webhook_subjects_monitor on webhook_subjects (monitor_id) where monitor_id is not null;
create index webhook_subjects_group on webhook_subjects (group_id) where group_id is not null;
create index webhook_subjects_heartbeat on webhook_subjects (heartbeat_id) where heartbeat_id is not null;
create index webhook_subjects_webhook_check on webhook_subjects (webhook_check_id) where webhook_check_id is not null;

-- One row for an event and a webhook, however often it is sent.
create table webhook_deliveries (
  id bigint generated always as identity primary key,
  workspace_id integer not null references workspaces,
  webhook_id integer not null references webhooks,
  event_id text not null,
  type text not null,
  event_at timestamptz not null,
  -- Of tests, and of dead letters, which outlive their events; else that of the event is sent.
  body text,
  state text not null check (state in ('queued', 'delivered', 'failed', 'missed')),
  -- When it is tried next, or until when it is whose that tries it now.
  due_at timestamptz not null,
  leased_by text,
  -- Of this round, by which delays are chosen; and all.
  tries smallint not null default 0,
  attempts integer not null default 0,
  is_replay boolean not null default false,
  is_test boolean not null default false,
  status_code smallint,
  error_code text,
  duration_ms integer,
  -- [{"at", "duration_ms", "status_code", "error_code", "error", "answer"}], the last 20.
  history jsonb not null default '[]',
  has_answers boolean not null default false,
  -- Of dead letters.
  dlq_status text check (dlq_status in ('failed', 'retried', 'resolved')),
  failed_at timestamptz,
  retries integer not null default 0,
  delivered_at timestamptz,
  resolved_by integer,
  created_at timestamptz not null default clock_timestamp(),
  unique (webhook_id, event_id)
) with (fillfactor = 70);
create index webhook_deliveries_queue on webhook_deliveries (webhook_id, is_replay, due_at) where state = 'queued';
create index webhook_deliveries_due on webhook_deliveries (due_at) where state = 'queued';
create index webhook_deliveries_leased on webhook_deliveries (workspace_id, webhook_id) where leased_by is not null;
create index webhook_deliveries_missed on webhook_deliveries (webhook_id, event_at) where state = 'missed';
create index webhook_deliveries_dead on webhook_deliveries (webhook_id, dlq_status, failed_at) where dlq_status is not null;
create index webhook_deliveries_time on webhook_deliveries (webhook_id, event_at, id);
create index webhook_deliveries_workspace on webhook_deliveries (workspace_id);
create index webhook_deliveries_made on webhook_deliveries (created_at);
create index webhook_deliveries_answers on webhook_deliveries (created_at) where has_answers;

-- Sums of an hour; of durations a sketch, a row for each bucket.
create table webhook_hours (
  workspace_id integer not null references workspaces,
  webhook_id integer not null references webhooks on delete cascade,
  hour timestamptz not null,
  success integer not null default 0,
  error integer not null default 0,
  attempts integer not null default 0,
  primary key (webhook_id, hour)
);
create index webhook_hours_hour on webhook_hours (hour);
create table webhook_latencies (
  workspace_id integer not null references workspaces,
  webhook_id integer not null references webhooks on delete cascade,
  hour timestamptz not null,
  bucket smallint not null,
  count integer not null,
  primary key (webhook_id, hour, bucket)
);
create index webhook_latencies_hour on webhook_latencies (hour);

alter table webhooks enable row level security;
alter table webhooks force row level security;
create policy webhooks_of_tenant on webhooks using (workspace_id = any (current_workspaces()));
alter table webhook_subjects enable row level security;
alter table webhook_subjects force row level security;
create policy webhook_subjects_of_tenant on webhook_subjects using (workspace_id = any (current_workspaces()));
alter table webhook_deliveries enable row level security;
alter table webhook_deliveries force row level security;
create policy webhook_deliveries_of_tenant on webhook_deliveries using (workspace_id = any (current_workspaces()));
alter table webhook_hours enable row level security;
alter table webhook_hours force row level security;
create policy webhook_hours_of_tenant on webhook_hours using (workspace_id = any (current_workspaces()));
alter table webhook_latencies enable row level security;
alter table webhook_latencies force row level security;
create policy webhook_latencies_of_tenant on webhook_latencies using (workspace_id = any (current_workspaces()));

grant select, insert, update on webhooks to parallax_api;
grant select, insert, update, delete on webhook_subjects to parallax_api;
grant select, insert, update on webhook_deliveries to parallax_api;
grant select on webhook_hours, webhook_latencies to parallax_api;
grant usage, select on sequence webhooks_id_seq, webhook_subjects_id_seq, webhook_deliveries_id_seq to parallax_api;
