-- When certificates and domains end, and what blocklists say: facts that last from one check to the next, written when they change and once
-- a day. Like results they are reached through their monitor, and removed with it by batches.

-- As each probe saw it last; probe 0 is the control plane.
create table monitor_expiries (
  monitor_id integer not null,
  kind text not null check (kind in ('certificate', 'domain')),
  probe_id integer not null,
  -- Of the monitor as it was checked: what another target said does not count.
  probe_revision integer not null,
  not_after timestamptz not null,
  seen_at timestamptz not null,
  primary key (monitor_id, kind, probe_id)
);

-- The earliest end that probes see. One that said nothing for three days while others did is not asked any more: who looks tells once a day.
create function monitor_expiry(of_monitor integer, of_kind text, of_revision integer) returns timestamptz
  language sql stable as $$
    select min(e.not_after) from monitor_expiries e
    where e.monitor_id = of_monitor and e.kind = of_kind and e.probe_revision = of_revision
      and e.seen_at > (
        select max(l.seen_at) from monitor_expiries l
        where l.monitor_id = of_monitor and l.kind = of_kind and l.probe_revision = of_revision) - interval '3 days'
  $$;

-- What was told: an occasion is told once, whoever comes to it first.
create table expiry_notices (
  monitor_id integer not null,
  kind text not null check (kind in ('certificate', 'domain')),
  not_after timestamptz not null,
  threshold_days integer not null,
  told_at timestamptz not null,
  primary key (monitor_id, kind, not_after, threshold_days)
);

-- What each probe heard last from the lists that a monitor asks: {"zen.example": "listed" | "clean" | "error"}.
create table dnsbl_views (
  monitor_id integer not null,
  probe_id integer not null,
  probe_revision integer not null,
  listings jsonb not null,
  seen_at timestamptz not null,
  primary key (monitor_id, probe_id)
);

-- What the probes together say of a list, from one change to the next.
create table dnsbl_runs (
  monitor_id integer not null,
  provider text not null check (length(provider) between 1 and 253),
  started_at timestamptz not null,
  ended_at timestamptz check (ended_at > started_at),
  state text not null check (state in ('listed', 'clean', 'error')),
  -- What the list said when it last gave an answer.
  is_listed boolean not null,
  primary key (monitor_id, provider, started_at)
);
create unique index dnsbl_runs_open on dnsbl_runs (monitor_id, provider) where ended_at is null;
create index dnsbl_runs_ended on dnsbl_runs (ended_at) where ended_at is not null;

alter table monitor_expiries enable row level security;
alter table monitor_expiries force row level security;
create policy monitor_expiries_of_tenant on monitor_expiries
  using (exists (select from monitors m where m.id = monitor_id and m.workspace_id = any (current_workspaces())));
alter table expiry_notices enable row level security;
alter table expiry_notices force row level security;
create policy expiry_notices_of_tenant on expiry_notices
  using (exists (select from monitors m where m.id = monitor_id and m.workspace_id = any (current_workspaces())));
alter table dnsbl_views enable row level security;
alter table dnsbl_views force row level security;
create policy dnsbl_views_of_tenant on dnsbl_views
  using (exists (select from monitors m where m.id = monitor_id and m.workspace_id = any (current_workspaces())));
alter table dnsbl_runs enable row level security;
alter table dnsbl_runs force row level security;
create policy dnsbl_runs_of_tenant on dnsbl_runs
  using (exists (select from monitors m where m.id = monitor_id and m.workspace_id = any (current_workspaces())));
grant select on monitor_expiries, dnsbl_views, dnsbl_runs to parallax_api;
grant execute on function monitor_expiry(integer, text, integer) to parallax_api;
