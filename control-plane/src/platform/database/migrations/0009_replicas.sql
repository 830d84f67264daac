-- Processes of the control plane as they were last seen, with the addresses and ports where they listen: no check may reach those of any.
create table replicas (
  name text primary key check (length(name) between 1 and 200),
  roles text[] not null,
  -- [{"address": "127.0.0.1", "port": 8080}, …]
  listeners jsonb not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
