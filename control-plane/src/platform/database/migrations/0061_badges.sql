-- Badges: small pictures that tell strangers how one thing is. Its key is all that a reader has.
create table badges (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspaces,
  monitor_id integer,
  heartbeat_id integer,
  webhook_check_id integer,
  page_id integer,
  -- The key is found by its SHA-256, and sealed, since its URLs are shown again.
  key_hash bytea not null unique,
  sealed_key bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  -- When its present key replaced another one; null: it has its first.
  rotated_at timestamptz,
  check (num_nonnulls(monitor_id, heartbeat_id, webhook_check_id, page_id) = 1),
  -- A badge moves to another workspace with its monitor: what shows it lies in documents that nobody changes for that.
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id) on update cascade on delete cascade,
  foreign key (workspace_id, heartbeat_id) references heartbeats (workspace_id, id) on update cascade on delete cascade,
  foreign key (workspace_id, webhook_check_id) references webhook_checks (workspace_id, id) on update cascade on delete cascade,
  foreign key (workspace_id, page_id) references status_pages (workspace_id, id) on update cascade on delete cascade
);
create index badges_workspace on badges (workspace_id, id);
create unique index badges_monitor on badges (monitor_id) where monitor_id is not null;
create unique index badges_heartbeat on badges (heartbeat_id) where heartbeat_id is not null;
create unique index badges_webhook_check on badges (webhook_check_id) where webhook_check_id is not null;
create unique index badges_page on badges (page_id) where page_id is not null;

alter table badges enable row level security;
alter table badges force row level security;
create policy badges_of_tenant on badges using (workspace_id = any (current_workspaces()));
create policy lookups_of_owner on badges to current_user using (true);
grant select, insert, delete on badges to parallax_api;
grant update (key_hash, sealed_key, rotated_at) on badges to parallax_api;
grant usage, select on sequence badges_id_seq to parallax_api;

-- What the badge of a key is about, before the tenant is known; no row where there is no such badge. slug: of its page, if that is published.
create function identity_badge(of_key_hash bytea)
  returns table (id integer, workspace_id integer, type text, subject_id integer, slug text)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select b.id, b.workspace_id,
      case when b.monitor_id is not null then 'monitor' when b.heartbeat_id is not null then 'heartbeat'
        when b.webhook_check_id is not null then 'webhook_check' else 'page' end,
      coalesce(b.monitor_id, b.heartbeat_id, b.webhook_check_id, b.page_id), p.slug
    from badges b
      join workspaces w on w.id = b.workspace_id and w.deleted_at is null
      left join status_pages p on p.id = b.page_id and p.deleted_at is null and p.is_published
    where b.key_hash = of_key_hash;
  end;
revoke execute on function identity_badge(bytea) from public, parallax_worker;
grant execute on function identity_badge(bytea) to parallax_api;
