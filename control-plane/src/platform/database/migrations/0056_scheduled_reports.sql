-- Files that mails carry, one for any number of them: rows of the outbox and of mails stay small.
create table mail_files (
  id uuid primary key default gen_random_uuid(),
  name text not null check (length(name) between 1 and 200),
  content_type text not null,
  sealed bytea not null check (length(sealed) <= 6291456),
  created_at timestamptz not null default clock_timestamp()
);
create index mail_files_created on mail_files (created_at);
-- No request reads it, as no request reads mails.
alter table mail_files enable row level security;
alter table mail_files force row level security;

-- Mails of a higher number wait until none of a lower one is due.
alter table mails add column priority smallint not null default 0;
alter table mails add column file_ids uuid[] not null default '{}';
create index mails_turn on mails (priority, due_at) where given_up_at is null;
drop index mails_due;

-- Reports that are made by the calendar and mailed.
create table scheduled_reports (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspaces,
  -- On whose behalf it is mailed: consent of readers is given to them.
  owner_id integer references users on delete set null,
  name text not null check (length(name) between 1 and 200),
  is_paused boolean not null default false,
  covers_all boolean not null,
  tags text[] not null default '{}' check (cardinality(tags) <= 20),
  slo_target double precision check (slo_target between 90 and 100),
  locale text not null check (locale in ('en', 'ru')),
  frequency text not null check (frequency in ('daily', 'weekly', 'monthly', 'quarterly')),
  timezone text not null,
  week_starts smallint not null check (week_starts in (1, 7)),
  send_at text not null check (send_at ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
  formats text[] not null check (formats <@ '{pdf,csv}' and cardinality(formats) between 1 and 2),
  compare boolean not null,
  -- When the next run is due; whoever moves it on begins that run. Null while it is paused.
  next_run_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  unique (workspace_id, id),
  check (is_paused = (next_run_at is null))
);
create index scheduled_reports_workspace on scheduled_reports (workspace_id, id) where deleted_at is null;
create index scheduled_reports_owner on scheduled_reports (owner_id);
create index scheduled_reports_due on scheduled_reports (next_run_at) where next_run_at is not null and deleted_at is null;
create index scheduled_reports_deleted on scheduled_reports (id) where deleted_at is not null;

create table scheduled_report_subjects (
  id integer generated always as identity primary key,
  workspace_id integer not null,
  report_id integer not null,
  monitor_id integer,
  group_id integer,
  heartbeat_id integer,
  webhook_check_id integer,
  check (num_nonnulls(monitor_id, group_id, heartbeat_id, webhook_check_id) = 1),
  unique nulls not distinct (report_id, monitor_id, group_id, heartbeat_id, webhook_check_id),
  foreign key (workspace_id, report_id) references scheduled_reports (workspace_id, id) on delete cascade,
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id),
  foreign key (workspace_id, group_id) references monitor_groups (workspace_id, id) on delete cascade,
  foreign key (workspace_id, heartbeat_id) references heartbeats (workspace_id, id) on delete cascade,
  foreign key (workspace_id, webhook_check_id) references webhook_checks (workspace_id, id) on delete cascade
);
create index scheduled_report_subjects_monitor on scheduled_report_subjects (monitor_id) where monitor_id is not null;
create index scheduled_report_subjects_group on scheduled_report_subjects (group_id) where group_id is not null;
create index scheduled_report_subjects_heartbeat on scheduled_report_subjects (heartbeat_id) where heartbeat_id is not null;
create index scheduled_report_subjects_webhook_check on scheduled_report_subjects (webhook_check_id)
  where webhook_check_id is not null;

create table scheduled_report_recipients (
  id integer generated always as identity primary key,
  workspace_id integer not null,
  report_id integer not null,
  -- Null: the owner's own address, whatever it is when a mail is sent.
  address text check (length(address) <= 254),
  -- Null: that of the report.
  locale text check (locale in ('en', 'ru')),
  place smallint not null,
  -- Not listed: the reader has unsubscribed, and is not mailed again because somebody lists them anew.
  is_listed boolean not null default true,
  unsubscribe_hash bytea not null unique,
  unsubscribe_sealed bytea not null,
  unsubscribed_at timestamptz,
  unique nulls not distinct (report_id, address),
  foreign key (workspace_id, report_id) references scheduled_reports (workspace_id, id) on delete cascade
);

create table scheduled_report_runs (
  id integer generated always as identity primary key,
  workspace_id integer not null,
  report_id integer not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  trigger text not null check (trigger in ('schedule', 'manual')),
  is_late boolean not null default false,
  delivers boolean not null default true,
  status text not null check (status in ('queued', 'running', 'sent', 'partly_sent', 'failed', 'skipped', 'late')),
  -- [{"address", "state"}], as they were when it was mailed.
  recipients jsonb not null default '[]',
  error text,
  attempts smallint not null default 0,
  -- When it is tried next, or until when it is whose that makes it now.
  due_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  unique (workspace_id, id),
  foreign key (workspace_id, report_id) references scheduled_reports (workspace_id, id) on delete cascade
);
create index scheduled_report_runs_report on scheduled_report_runs (report_id, id);
-- One at a time for each report.
create unique index scheduled_report_runs_open on scheduled_report_runs (report_id) where status in ('queued', 'running');
create index scheduled_report_runs_due on scheduled_report_runs (due_at) where status in ('queued', 'running');
create index scheduled_report_runs_created on scheduled_report_runs (created_at);

create table scheduled_report_files (
  workspace_id integer not null,
  run_id integer not null,
  format text not null check (format in ('pdf', 'csv')),
  content bytea not null check (length(content) <= 5242880),
  created_at timestamptz not null default clock_timestamp(),
  primary key (run_id, format),
  foreign key (workspace_id, run_id) references scheduled_report_runs (workspace_id, id) on delete cascade
);
-- PDF is compressed already.
alter table scheduled_report_files alter column content set storage external;
create index scheduled_report_files_created on scheduled_report_files (created_at);

alter table scheduled_reports enable row level security;
alter table scheduled_reports force row level security;
create policy scheduled_reports_of_tenant on scheduled_reports using (workspace_id = any (current_workspaces()));
alter table scheduled_report_subjects enable row level security;
alter table scheduled_report_subjects force row level security;
create policy scheduled_report_subjects_of_tenant on scheduled_report_subjects using (workspace_id = any (current_workspaces()));
alter table scheduled_report_recipients enable row level security;
alter table scheduled_report_recipients force row level security;
create policy scheduled_report_recipients_of_tenant on scheduled_report_recipients
  using (workspace_id = any (current_workspaces()));
alter table scheduled_report_runs enable row level security;
alter table scheduled_report_runs force row level security;
create policy scheduled_report_runs_of_tenant on scheduled_report_runs using (workspace_id = any (current_workspaces()));
alter table scheduled_report_files enable row level security;
alter table scheduled_report_files force row level security;
create policy scheduled_report_files_of_tenant on scheduled_report_files using (workspace_id = any (current_workspaces()));

grant select, insert, update on scheduled_reports to parallax_api;
grant select, insert, update, delete on scheduled_report_subjects, scheduled_report_recipients to parallax_api;
grant select, insert on scheduled_report_runs to parallax_api;
grant select on scheduled_report_files to parallax_api;
grant usage, select on sequence scheduled_reports_id_seq, scheduled_report_subjects_id_seq, scheduled_report_recipients_id_seq,
  scheduled_report_runs_id_seq to parallax_api;

-- The link of a mail names nobody's workspace: its token is all that there is.
create policy lookups_of_owner on scheduled_reports to current_user using (true);
create policy lookups_of_owner on scheduled_report_recipients to current_user using (true) with check (true);

-- What the token of a link belongs to; with an action, which is 'unsubscribe' or 'subscribe', that is done.
create function identity_report_reader(
    of_hash bytea, action text, out report text, out address text, out locale text, out is_unsubscribed boolean)
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  if action is not null then
    update scheduled_report_recipients r
    set unsubscribed_at = case when action = 'unsubscribe' then coalesce(r.unsubscribed_at, clock_timestamp()) end
    where r.unsubscribe_hash = of_hash and (r.unsubscribed_at is null) = (action = 'unsubscribe');
  end if;
  select s.name, coalesce(r.address, u.email), coalesce(r.locale, s.locale), r.unsubscribed_at is not null
  into identity_report_reader.report, identity_report_reader.address, identity_report_reader.locale,
    identity_report_reader.is_unsubscribed
  from scheduled_report_recipients r
  join scheduled_reports s on s.id = r.report_id
  left join users u on u.id = s.owner_id
  where r.unsubscribe_hash = of_hash and s.deleted_at is null and coalesce(r.address, u.email) is not null;
end
$$;
revoke execute on function identity_report_reader(bytea, text) from public, parallax_worker;
grant execute on function identity_report_reader(bytea, text) to parallax_api;
