-- What happened in a workspace, for whoever watches it live. Kept a day, so that a connection that broke goes on where it was.
create table live_events (
  -- Numbers are drawn before a transaction commits, so a reader goes by the transaction first and takes only those that are over
  -- (everything below the oldest that still runs): what it has passed can no longer be filled in.
  xid xid8 not null default pg_current_xact_id(),
  id bigint generated always as identity,
  workspace_id integer not null references workspaces on delete cascade,
  -- "monitor.transition".
  kind text not null,
  payload jsonb not null,
  at timestamptz not null default clock_timestamp(),
  primary key (xid, id)
);
create index live_events_at on live_events using brin (at);

alter table live_events enable row level security;
alter table live_events force row level security;
create policy live_events_of_tenant on live_events using (workspace_id = any (current_workspaces()));
grant select on live_events to parallax_api;
