-- Keys under which clients repeat a request that creates (header Idempotency-Key), kept for a day.
create table idempotency_keys (
  id bigint generated always as identity primary key,
  user_id integer not null references users on delete cascade,
  -- Method and path of the contract: a key means something for one route only.
  route text not null,
  key text not null check (length(key) between 1 and 255),
  -- SHA-256 of URL and body, sealed: a body may hold secrets, which a plain hash would let others guess.
  sealed_digest bytea not null,
  -- The workspaces that its sender could see: who sees fewer of them is not shown the answer.
  workspace_ids integer[] not null,
  -- The attempt that is under way or was the last; another one takes over when its time is over.
  attempt uuid not null,
  lease_until timestamptz not null,
  -- Set in a transaction of the attempt that wrote something: from then on the request is never done again.
  is_done boolean not null default false,
  -- Status, headers and body, sealed: some show what is shown only once. null: under way, or lost with its process.
  answer bytea,
  begun_at timestamptz not null default now(),
  unique (user_id, route, key)
);
create index idempotency_keys_begun on idempotency_keys (begun_at);

alter table idempotency_keys enable row level security;
alter table idempotency_keys force row level security;
create policy own_idempotency_keys on idempotency_keys using (user_id = current_user_id());
grant select, insert, update, delete on idempotency_keys to parallax_api;
grant usage, select on sequence idempotency_keys_id_seq to parallax_api;

-- A monitor that is moved to another workspace takes along what is kept of it. The constraints are made anew, since a constraint's action
-- cannot be altered.
alter table incidents drop constraint incidents_workspace_id_monitor_id_fkey;
alter table incidents add constraint incidents_workspace_id_monitor_id_fkey
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id) on update cascade;
alter table diagnoses drop constraint diagnoses_workspace_id_monitor_id_fkey;
alter table diagnoses add constraint diagnoses_workspace_id_monitor_id_fkey
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id) on update cascade;
alter table flapping drop constraint flapping_workspace_id_monitor_id_fkey;
alter table flapping add constraint flapping_workspace_id_monitor_id_fkey
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id) on update cascade;
alter table sla_corrections drop constraint sla_corrections_workspace_id_monitor_id_fkey;
alter table sla_corrections add constraint sla_corrections_workspace_id_monitor_id_fkey
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id) on update cascade;
