create table probes (
  id integer generated always as identity (start with 1) primary key,
  -- null: a public probe of the installation; else a private one that serves this workspace only.
  workspace_id integer references workspaces,
  name text not null check (length(name) between 1 and 200),
  region text not null check (length(region) between 1 and 100),
  -- Ed25519, raw 32 bytes: signs batches; the same key authenticates to the broker.
  signing_public_key bytea not null check (length(signing_public_key) = 32),
  agent_version text not null default '',
  capabilities text[] not null default '{}',
  public_addresses text[] not null default '{}',
  -- Highest revision given to an assignment of this probe. Locked by whoever changes its assignments, so revisions become visible in order.
  assignment_revision bigint not null default 0,
  is_paused boolean not null default false,
  last_seen_at timestamptz,
  -- Since when it is lost: its notice was given and it gets no new assignments; null while it is heard of.
  offline_since timestamptz,
  revoked_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index probes_name on probes (coalesce(workspace_id, 0), name) where revoked_at is null;

create table probe_certificates (
  serial text primary key,
  probe_id integer not null references probes,
  -- SHA-256 of the certificate's public key (SPKI, DER).
  key_fingerprint text not null,
  not_before timestamptz not null,
  not_after timestamptz not null,
  -- Public; kept so that a repeated enrolment gets the same answer.
  certificate_der bytea not null,
  revoked_at timestamptz,
  issued_at timestamptz not null default now()
);
create index probe_certificates_probe on probe_certificates (probe_id);

create table join_tokens (
  id integer generated always as identity primary key,
  workspace_id integer references workspaces,
  secret_hash bytea not null,
  name text not null,
  region text not null,
  created_by integer,
  expires_at timestamptz not null,
  used_at timestamptz,
  -- Public key of the signing request that used it: the same token with the same key gets the same answer.
  used_by_key bytea,
  probe_id integer references probes,
  created_at timestamptz not null default now()
);

create table probe_sessions (
  id bigint generated always as identity primary key,
  probe_id integer not null references probes,
  boot_id text not null,
  -- The control plane process that holds the stream.
  replica text not null,
  remote_address text,
  applied_revision bigint not null default 0,
  oldest_unacknowledged_ms bigint not null default 0,
  in_flight integer not null default 0,
  damaged_records bigint not null default 0,
  opened_at timestamptz not null default now(),
  last_heartbeat_at timestamptz not null default now(),
  closed_at timestamptz,
  close_reason text
);
create unique index probe_sessions_open on probe_sessions (probe_id) where closed_at is null;

create table monitors (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspaces,
  -- Owner of the workspace: names are unique among all workspaces of one owner.
  owner_id integer not null references users,
  shard integer not null default 0,
  name text not null check (length(name) between 1 and 200),
  description text not null default '' check (length(description) <= 2000),
  url text not null check (length(url) between 1 and 2048),
  protocol text not null,
  interval_seconds integer not null check (interval_seconds between 1 and 86400),
  timeout_seconds integer not null check (timeout_seconds between 1 and 60),
  confirmations integer not null default 2 check (confirmations between 1 and 5),
  -- "majority", "any", "all" or a number.
  consensus_policy jsonb not null default '"majority"',
  degraded_threshold_ms integer check (degraded_threshold_ms between 1 and 60000),
  -- Settings of the check type without its secret fields.
  settings jsonb not null default '{}',
  -- JSON object of the secret fields, sealed; null when there are none.
  sealed_secrets bytea,
  -- Names of the secret fields that are set, so that answers can say so without opening them.
  secret_fields text[] not null default '{}',
  tags text[] not null default '{}',
  -- What the customer asked for; both null: up to three online probes in different regions.
  wanted_probe_ids integer[],
  wanted_regions text[],
  is_active boolean not null default true,
  position integer,
  -- Blacklists asked by monitors of that kind; empty: the default list.
  dnsbl_servers text[] not null default '{}',
  -- Days before an expiry at which somebody is told.
  certificate_thresholds_days integer[] not null default '{30,14,7,3,1}',
  domain_thresholds_days integer[] not null default '{30,14,7,1}',
  -- Any change; the ETag.
  version integer not null default 1,
  -- A change of what is checked: results of older revisions do not vote.
  probe_revision integer not null default 1,
  -- Read model, written by the ingester when it changes.
  status text not null default 'UNKNOWN' check (status in ('UP', 'DOWN', 'TIMEOUT', 'DEGRADED', 'PARTIAL', 'WARNING', 'UNKNOWN')),
  status_since timestamptz,
  -- Results older than this count nowhere (reset of the statistics).
  reset_at timestamptz,
  -- A deleted monitor stays as a mark without its secrets; its data goes by batches.
  deleted_at timestamptz,
  -- When its data was last found to be gone.
  emptied_at timestamptz,
  -- Somebody was answered 204; from then on it answers 404 to DELETE too.
  deletion_told boolean not null default false,
  -- The transaction that last changed anything that consensus or a probe must know; the ingester polls by it.
  changed_xid xid8 not null default pg_current_xact_id(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workspace_id, id)
);
create unique index monitors_name on monitors (owner_id, name) where deleted_at is null;
create index monitors_workspace on monitors (workspace_id) where deleted_at is null;
create index monitors_changed on monitors (shard, changed_xid);
create index monitors_deleted on monitors (deleted_at) where deleted_at is not null;

-- Configuration as consensus needs it, with its own effective times.
create table monitor_history (
  monitor_id integer not null,
  effective_at timestamptz not null,
  version integer not null,
  probe_revision integer not null,
  confirmations integer not null,
  consensus_policy jsonb not null,
  interval_seconds integer not null,
  timeout_seconds integer not null,
  primary key (monitor_id, version)
);

create table pauses (
  id bigint generated always as identity primary key,
  monitor_id integer not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  paused_by text not null default 'self' check (paused_by in ('self', 'group'))
);
create unique index pauses_open on pauses (monitor_id, paused_by) where ended_at is null;
create index pauses_monitor on pauses (monitor_id, started_at);

-- Their own log: closing or changing a row gives it a new revision of its probe. Rows are kept: they are inputs of consensus.
create table assignments (
  id bigint generated always as identity primary key,
  monitor_id integer not null,
  probe_id integer not null references probes,
  -- The probe's region at the time.
  region text not null,
  supplement boolean not null default false,
  started_at timestamptz not null,
  ended_at timestamptz,
  revision bigint not null
);
create unique index assignments_open on assignments (monitor_id, probe_id) where ended_at is null;
create index assignments_revision on assignments (probe_id, revision);
create index assignments_monitor on assignments (monitor_id);

-- A probe's votes that do not count, because it fails alone.
create table quarantines (
  id bigint generated always as identity primary key,
  probe_id integer not null references probes,
  started_at timestamptz not null,
  ended_at timestamptz,
  reason text not null
);
create unique index quarantines_open on quarantines (probe_id) where ended_at is null;

-- Who folds a shard. Each transaction of the ingest names its term, so a stale owner writes nothing.
create table shards (
  shard integer primary key,
  owner text,
  term bigint not null default 0,
  -- Nothing before this time will change but by late results; readers end an open range at min(now, folded_until).
  folded_until timestamptz,
  renewed_at timestamptz
);

-- What is committed of each probe's log. The guarantee of exactly once.
create table cursors (
  probe_id integer not null,
  epoch bigint not null,
  shard integer not null,
  seq bigint not null,
  updated_at timestamptz not null default now(),
  primary key (probe_id, epoch, shard)
);

create table rejected_batches (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  subject text not null,
  probe_id integer,
  reason text not null,
  detail text not null default '',
  -- SHA-256 of the message, so that one that comes again is recognised.
  digest bytea not null
);
create index rejected_batches_at on rejected_batches (at);

-- What probes had to drop; the timeline shows unknown there.
create table lost_results (
  id bigint generated always as identity primary key,
  probe_id integer not null,
  epoch bigint not null,
  shard integer not null,
  from_seq bigint not null,
  to_seq bigint not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  received_at timestamptz not null default now()
);

-- Hot rows, partitioned by day of the effective time. No identity and no foreign key of their own: see ARCHITECTURE.md.
-- flags: bits 0–7 as in packages/wire/src/codec.ts, bit 8 origin central, bit 9 late.
create table check_results (
  e timestamptz not null,
  received_at timestamptz not null,
  monitor_id integer not null,
  -- 0: the control plane itself.
  probe_id integer not null,
  probe_revision integer not null,
  flags integer not null,
  fresh_s integer not null,
  total_us integer not null,
  dns_us integer,
  connect_us integer,
  tls_us integer,
  first_byte_us integer,
  transfer_us integer,
  error smallint not null
) partition by range (e);
create index check_results_key on check_results (monitor_id, e, probe_id);

-- First failures and changed error codes, whole.
create table result_evidence (
  e timestamptz not null,
  monitor_id integer not null,
  probe_id integer not null,
  message text not null,
  evidence jsonb not null
);
create index result_evidence_key on result_evidence (monitor_id, e, probe_id);

-- Makes the daily partitions (UTC) that hold [first, last]; at most 60 at once. Repeating it changes nothing.
create function ensure_result_partitions(first timestamptz, last timestamptz) returns void
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  day date := (first at time zone 'UTC')::date;
  final date := (last at time zone 'UTC')::date;
begin
  if final - day > 60 then
    raise exception 'more than 60 days of results at once';
  end if;
  perform pg_advisory_xact_lock(hashtext('check_results partitions'));
  while day <= final loop
    if to_regclass(format('check_results_%s', to_char(day, 'YYYYMMDD'))) is null then
      execute format(
        'create table %I partition of check_results for values from (%L) to (%L)',
        'check_results_' || to_char(day, 'YYYYMMDD'),
        (day::timestamp at time zone 'UTC')::text, ((day + 1)::timestamp at time zone 'UTC')::text);
      execute format('grant select, insert, delete on %I to parallax_worker', 'check_results_' || to_char(day, 'YYYYMMDD'));
    end if;
    day := day + 1;
  end loop;
end
$$;

-- Contiguous runs of equal consensus status; gaps are unknown or paused.
create table status_ranges (
  id bigint generated always as identity primary key,
  monitor_id integer not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  status text not null check (status in ('UP', 'DOWN', 'TIMEOUT', 'DEGRADED')),
  evidence jsonb not null default '{}',
  revised_at timestamptz,
  check (ended_at is null or ended_at > started_at)
);
create unique index status_ranges_key on status_ranges (monitor_id, started_at);
create unique index status_ranges_open on status_ranges (monitor_id) where ended_at is null;

create table probe_ranges (
  id bigint generated always as identity primary key,
  monitor_id integer not null,
  probe_id integer not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  status text not null check (status in ('UP', 'DOWN', 'TIMEOUT', 'DEGRADED')),
  evidence jsonb not null default '{}',
  revised_at timestamptz,
  check (ended_at is null or ended_at > started_at)
);
create unique index probe_ranges_key on probe_ranges (monitor_id, probe_id, started_at);
create unique index probe_ranges_open on probe_ranges (monitor_id, probe_id) where ended_at is null;

alter table monitors enable row level security;
alter table monitors force row level security;
create policy monitors_of_tenant on monitors using (workspace_id = any (current_workspaces()));
alter table probes enable row level security;
alter table probes force row level security;
create policy probes_visible on probes using (workspace_id is null or workspace_id = any (current_workspaces()));
alter table join_tokens enable row level security;
alter table join_tokens force row level security;
create policy join_tokens_of_tenant on join_tokens using (workspace_id is null or workspace_id = any (current_workspaces()));

-- Tables without a workspace are reached through the monitor, which is read under the tenant's policy first.
grant select, insert, update on monitors, join_tokens, probes, assignments, pauses, probe_sessions, probe_certificates to parallax_api;
grant select, insert on monitor_history to parallax_api;
grant select on shards, cursors, check_results, result_evidence, status_ranges, probe_ranges, quarantines, lost_results to parallax_api;
grant usage, select on all sequences in schema public to parallax_api;
