-- Heartbeats: jobs that tell by signals that they ran. What they are, what is known of them, and what they sent.
create table heartbeats (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspaces,
  name text not null check (length(name) between 1 and 200),
  description text not null default '' check (length(description) <= 2000),
  tags text[] not null default '{}' check (cardinality(tags) <= 20),
  slug text not null check (slug ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
  schedule_type text not null check (schedule_type in ('period', 'cron', 'on_calendar')),
  schedule text check (length(schedule) between 1 and 200),
  timezone text not null,
  expected_interval_seconds integer not null check (expected_interval_seconds between 1 and 31536000),
  grace_period_seconds integer not null check (grace_period_seconds between 0 and 31536000),
  max_runtime_seconds integer check (max_runtime_seconds between 1 and 2592000),
  min_runtime_seconds integer check (min_runtime_seconds between 1 and 2592000),
  failures_before_alert integer not null check (failures_before_alert between 1 and 100),
  require_secret boolean not null,
  resume_on_ping boolean not null,
  methods text not null check (methods in ('any', 'post')),

  -- The uuid is the secret of its own ping URL: found by its SHA-256, and sealed, since the URL is shown again.
  uuid_hash bytea not null,
  sealed_uuid bytea not null,
  -- SHA-256 of what signals by slug carry in X-Secret; shown once.
  secret_hash bytea not null,
  -- SHA-256 of the token of a push monitor that was imported.
  push_hash bytea,

  -- The state, which the decisions of signals and deadlines read and write whole, under the lock of the row. `late` is told by the clock.
  status text not null default 'new' check (status in ('new', 'up', 'down', 'paused')),
  status_since timestamptz not null default now(),
  reason text check (reason in ('missed', 'overran', 'failed', 'too_fast')),
  failures integer not null default 0,
  -- The end of the last run, or when the heartbeat was resumed or rescheduled: what the next signal is expected after.
  expects_from timestamptz,
  next_expected_at timestamptz,
  -- When a miss is noticed. Claimed by an update that names the status and the deadline that it saw.
  deadline_at timestamptz,
  -- Time in which no signals were taken, which the deadline of the present expectation was moved by.
  credit_ms bigint not null default 0,
  -- Open runs: [{"rid", "started_ms", "alive_ms", "is_kept_alive", "is_overdue"}].
  runs jsonb not null default '[]',
  last_ping_at timestamptz,
  last_duration_ms bigint,
  -- Signals so far: the number of the last one.
  pings bigint not null default 0,
  -- Signals taken in the minute (of the epoch) that is counted.
  counted_minute bigint not null default 0,
  counted integer not null default 0,

  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- A deleted one stays until its pings are gone.
  deleted_at timestamptz,
  unique (workspace_id, id),
  check ((schedule_type = 'period') = (schedule is null)),
  check (deadline_at is null or status in ('new', 'up'))
) with (fillfactor = 70);
create unique index heartbeats_slug on heartbeats (workspace_id, slug) where deleted_at is null;
create unique index heartbeats_uuid on heartbeats (uuid_hash) where deleted_at is null;
create unique index heartbeats_push on heartbeats (push_hash) where deleted_at is null and push_hash is not null;
create index heartbeats_deadline on heartbeats (deadline_at) where deadline_at is not null;
create index heartbeats_deleted on heartbeats (deleted_at) where deleted_at is not null;

-- Signals of the last 90 days. No foreign key: they are removed by batches.
create table heartbeat_pings (
  heartbeat_id integer not null,
  n bigint not null,
  workspace_id integer not null,
  at timestamptz not null,
  kind text not null check (kind in ('ping', 'start', 'success', 'fail', 'log', 'keepalive', 'ignored')),
  exit_code smallint,
  rid uuid,
  duration_ms bigint,
  method text not null,
  remote_address text not null,
  warnings text[] not null default '{}',
  primary key (heartbeat_id, n)
);
create index heartbeat_pings_at on heartbeat_pings using brin (at);

-- Bodies of the last hundred signals: each takes the place of the one a hundred before it.
create table heartbeat_bodies (
  heartbeat_id integer not null,
  slot smallint not null check (slot between 0 and 99),
  workspace_id integer not null,
  n bigint not null,
  body text not null,
  is_cut boolean not null,
  payload jsonb,
  primary key (heartbeat_id, slot)
);

-- When a heartbeat was up and when it was down. While it is paused or new there is none.
create table heartbeat_ranges (
  heartbeat_id integer not null,
  workspace_id integer not null,
  started_at timestamptz not null,
  ended_at timestamptz check (ended_at >= started_at),
  status text not null check (status in ('up', 'down')),
  reason text,
  primary key (heartbeat_id, started_at)
);
create unique index heartbeat_ranges_open on heartbeat_ranges (heartbeat_id) where ended_at is null;

-- Until when signals of heartbeats and deliveries to webhook checks were taken, by whatever replica: deadlines are judged up to here. One row.
create table intake_watch (
  singleton boolean primary key default true check (singleton),
  taken_until timestamptz
);
insert into intake_watch default values;

-- Times in which no replica took any, and by how much deadlines were moved for it.
create table intake_outages (
  from_at timestamptz primary key,
  to_at timestamptz not null check (to_at > from_at),
  credit_ms bigint not null
);

alter table heartbeats enable row level security;
alter table heartbeats force row level security;
create policy heartbeats_of_tenant on heartbeats using (workspace_id = any (current_workspaces()));
create policy lookups_of_owner on heartbeats to current_user using (true) with check (true);
alter table heartbeat_pings enable row level security;
alter table heartbeat_pings force row level security;
create policy heartbeat_pings_of_tenant on heartbeat_pings using (workspace_id = any (current_workspaces()));
alter table heartbeat_bodies enable row level security;
alter table heartbeat_bodies force row level security;
create policy heartbeat_bodies_of_tenant on heartbeat_bodies using (workspace_id = any (current_workspaces()));
alter table heartbeat_ranges enable row level security;
alter table heartbeat_ranges force row level security;
create policy heartbeat_ranges_of_tenant on heartbeat_ranges using (workspace_id = any (current_workspaces()));
grant select, insert, update on heartbeats, heartbeat_bodies, heartbeat_ranges to parallax_api;
grant select, insert on heartbeat_pings to parallax_api;
grant select on intake_outages to parallax_api;
grant usage, select on sequence heartbeats_id_seq to parallax_api;

-- What signals are for, by what their addresses name: a ping key and a slug, or the hash of a uuid or of a push token. One row for each address, in
-- its place; the heartbeat is null where there is none.
create function identity_heartbeats_addressed(ping_keys text[], slugs text[], uuid_hashes bytea[], push_hashes bytea[])
  returns table (
    place bigint, workspace_id integer, heartbeat_id integer, ping_key text, slug text, secret_hash bytea, require_secret boolean
  )
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select a.place, coalesce(h.workspace_id, w.id), h.id, a.ping_key, a.slug, h.secret_hash, h.require_secret
    from unnest(ping_keys, slugs, uuid_hashes, push_hashes) with ordinality as a (ping_key, slug, uuid_hash, push_hash, place)
      left join workspaces w on w.ping_key = a.ping_key and w.deleted_at is null
      left join lateral (
        select s.id, s.workspace_id, s.secret_hash, s.require_secret from heartbeats s
        where s.workspace_id = w.id and s.slug = a.slug and s.deleted_at is null
        union all
        select u.id, u.workspace_id, u.secret_hash, u.require_secret from heartbeats u
        where u.uuid_hash = a.uuid_hash and u.deleted_at is null
        union all
        select p.id, p.workspace_id, p.secret_hash, p.require_secret from heartbeats p
        where p.push_hash = a.push_hash and p.deleted_at is null
      ) h on true;
  end;
revoke execute on function identity_heartbeats_addressed(text[], text[], bytea[], bytea[]) from public, parallax_worker;
grant execute on function identity_heartbeats_addressed(text[], text[], bytea[], bytea[]) to parallax_api;
