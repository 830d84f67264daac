-- What other systems are told. A workspace reads its own with GET /events; webhooks get each by a delivery of their own.
create table events (
  -- Ordered as live_events: by the transaction first, of which only those are read that are over.
  xid xid8 not null default pg_current_xact_id(),
  id bigint generated always as identity,
  -- "evt_" and 32 hexadecimal digits: what receivers know it by.
  event_id text not null unique,
  workspace_id integer not null references workspaces on delete cascade,
  -- "monitor.down".
  type text not null,
  subject_type text not null,
  subject_id integer not null,
  -- Counts the events of one subject in one workspace, from 1 and without a gap.
  sequence integer not null,
  -- The JSON that is sent, at most 20,000 bytes.
  body text not null,
  at timestamptz not null default clock_timestamp(),
  primary key (xid, id)
);
create index events_at on events using brin (at);
create index events_of_workspace on events (workspace_id, xid, id);

alter table events enable row level security;
alter table events force row level security;
create policy events_of_tenant on events using (workspace_id = any (current_workspaces()));
grant select on events to parallax_api;

-- State changes that are still to be made events of, as the outbox told them. Its consumers only copy: one that failed would undo what others write.
create table event_inbox (
  id bigint generated always as identity primary key,
  key text not null,
  kind text not null,
  payload jsonb not null,
  at timestamptz not null,
  attempts integer not null default 0,
  available_at timestamptz not null default now(),
  error text
);
create index event_inbox_key on event_inbox (key, id);

-- What is remembered of a subject between its events.
create table event_subjects (
  workspace_id integer not null references workspaces on delete cascade,
  subject_type text not null,
  subject_id integer not null,
  -- The number of its last event.
  sequence integer not null,
  name text not null,
  -- An outage of a monitor that was announced and whose end was not.
  outage_started_at timestamptz,
  outage_incident_id integer,
  -- When the last revision was told, and from when on it changed the past.
  revised_at timestamptz,
  revised_since timestamptz,
  -- It was deleted or moved away: forgotten with its last event.
  ended_at timestamptz,
  primary key (workspace_id, subject_type, subject_id)
);
create index event_subjects_ended on event_subjects (ended_at) where ended_at is not null;
