-- Twelve characters by which strangers know a thing.
create function random_public_id() returns text
  language sql volatile set search_path = pg_catalog, pg_temp
  -- The first 48 bits of a random UUID are all random (RFC 9562, section 5.4).
  return substr(encode(uuid_send(gen_random_uuid()), 'hex'), 1, 12);
grant execute on function random_public_id() to parallax_api;

-- Pages that tell the public what is up.
create table status_pages (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspaces,
  -- Names the page to strangers, who shall not learn how many there are.
  public_id text not null unique default random_public_id() check (public_id ~ '^[a-z0-9]{12}$'),
  name text not null check (length(name) between 1 and 200),
  description text not null default '' check (length(description) <= 2000),
  slug text not null check (slug ~ '^[a-z0-9][a-z0-9-]{1,62}$'),
  is_published boolean not null default false,
  noindex boolean not null default false,
  locale text not null default 'en' check (locale in ('en', 'ru')),
  locales text[] not null default '{en,ru}' check (locales <@ '{en,ru}' and cardinality(locales) between 1 and 2 and locale = any (locales)),
  timezone text not null check (length(timezone) between 1 and 100),
  days smallint not null default 90 check (days in (30, 60, 90)),
  -- {scheme, light, dark, font, radius}; null: that of the product.
  theme jsonb,
  -- [{"label", "url"}]
  links jsonb not null default '[]',
  announcement text check (length(announcement) between 1 and 2000),
  announcement_until timestamptz,
  embed_origins text[] not null default '{}' check (cardinality(embed_origins) <= 20),
  automatic_incidents boolean not null default true,
  delay_minutes smallint not null default 0 check (delay_minutes between 0 and 60),
  notify_automatic boolean not null default true,
  version integer not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz,
  unique (workspace_id, id)
);
create unique index status_pages_slug on status_pages (slug) where deleted_at is null;
create index status_pages_workspace on status_pages (workspace_id, id) where deleted_at is null;

-- What a page shows. A component keeps its public name when it moves to another place of its page.
create table status_page_items (
  id integer generated always as identity primary key,
  workspace_id integer not null,
  page_id integer not null,
  component_id text not null unique default random_public_id() check (component_id ~ '^[a-z0-9]{12}$'),
  monitor_id integer,
  group_id integer,
  heartbeat_id integer,
  webhook_check_id integer,
  -- Null: the name of the subject.
  display_name text check (length(display_name) between 1 and 200),
  description text not null default '' check (length(description) <= 500),
  -- The section under which it stands; null: none.
  section text check (length(section) between 1 and 200),
  position smallint not null,
  show_uptime boolean not null default true,
  show_response_times boolean not null default false,
  only_if_degraded boolean not null default false,
  check (num_nonnulls(monitor_id, group_id, heartbeat_id, webhook_check_id) = 1),
  unique nulls not distinct (page_id, monitor_id, group_id, heartbeat_id, webhook_check_id),
  foreign key (workspace_id, page_id) references status_pages (workspace_id, id) on delete cascade,
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id),
  foreign key (workspace_id, group_id) references monitor_groups (workspace_id, id) on delete cascade,
  foreign key (workspace_id, heartbeat_id) references heartbeats (workspace_id, id) on delete cascade,
  foreign key (workspace_id, webhook_check_id) references webhook_checks (workspace_id, id) on delete cascade
);
create index status_page_items_page on status_page_items (page_id, position);
create index status_page_items_monitor on status_page_items (monitor_id) where monitor_id is not null;
create index status_page_items_group on status_page_items (group_id) where group_id is not null;
create index status_page_items_heartbeat on status_page_items (heartbeat_id) where heartbeat_id is not null;
create index status_page_items_webhook_check on status_page_items (webhook_check_id) where webhook_check_id is not null;

-- Slugs that nobody else may take yet: former ones of a page, which lead to it until then, and those of deleted pages.
create table status_page_slugs (
  slug text primary key check (slug ~ '^[a-z0-9][a-z0-9-]{1,62}$'),
  workspace_id integer not null references workspaces,
  page_id integer,
  taken_until timestamptz not null,
  foreign key (workspace_id, page_id) references status_pages (workspace_id, id) on delete cascade
);
create index status_page_slugs_page on status_page_slugs (page_id);
create index status_page_slugs_taken on status_page_slugs (taken_until);

-- What of an incident the public sees. auto: as its pages say for automatic ones, and from the first public update for those by hand.
alter table incidents
  add column public_id text unique check (public_id ~ '^[a-z0-9]{12}$'),
  add column visibility text not null default 'auto' check (visibility in ('auto', 'public', 'hidden')),
  add column public_title text check (length(public_title) between 1 and 200),
  add column postmortem_public boolean not null default false;
update incidents set public_id = random_public_id();
alter table incidents alter column public_id set default random_public_id(), alter column public_id set not null;

alter table incident_updates
  -- Whether subscribers of pages are told.
  add column notify boolean not null default true,
  -- [{"component_id", "status"}]: worse words than measured, for as long as the incident lasts.
  add column impacts jsonb not null default '[]',
  -- The time that pages show; null: when it was written.
  add column display_at timestamptz;

alter table maintenance
  add column public_id text unique check (public_id ~ '^[a-z0-9]{12}$'),
  -- False: pages show its word alone.
  add column is_public boolean not null default true,
  add column public_title text check (length(public_title) between 1 and 200),
  add column public_text text check (length(public_text) between 1 and 5000),
  -- How long before its start subscribers are told; null: not at all.
  add column remind_hours smallint check (remind_hours between 1 and 168);
update maintenance set public_id = random_public_id();
alter table maintenance alter column public_id set default random_public_id(), alter column public_id set not null;

alter table status_pages enable row level security;
alter table status_pages force row level security;
create policy status_pages_of_tenant on status_pages using (workspace_id = any (current_workspaces()));
alter table status_page_items enable row level security;
alter table status_page_items force row level security;
create policy status_page_items_of_tenant on status_page_items using (workspace_id = any (current_workspaces()));
alter table status_page_slugs enable row level security;
alter table status_page_slugs force row level security;
create policy status_page_slugs_of_tenant on status_page_slugs using (workspace_id = any (current_workspaces()));

grant select, insert, update on status_pages to parallax_api;
grant select, insert, update, delete on status_page_items, status_page_slugs to parallax_api;
grant usage, select on sequence status_pages_id_seq, status_page_items_id_seq to parallax_api;

-- A reader of a page belongs to no workspace: the slug is all that there is.
create policy lookups_of_owner on status_pages to current_user using (true);
create policy lookups_of_owner on status_page_slugs to current_user using (true);

-- The published page that a slug leads to, with the slug that it has now; no row where there is none.
create function identity_status_page(
    of_slug text, out page_id integer, out workspace_id integer, out slug text)
  language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
  select p.id, p.workspace_id, p.slug
  into identity_status_page.page_id, identity_status_page.workspace_id, identity_status_page.slug
  from status_pages p
  where p.deleted_at is null and p.is_published and (
    p.slug = of_slug
    or p.id = (select s.page_id from status_page_slugs s where s.slug = of_slug and s.taken_until > clock_timestamp()))
  order by (p.slug = of_slug) desc limit 1;
end
$$;
revoke execute on function identity_status_page(text) from public, parallax_worker;
grant execute on function identity_status_page(text) to parallax_api;

-- Whether a slug is free in the whole installation, whoever asks. for_page: the page that may take its own former slug again.
create function identity_status_page_slug_is_free(of_slug text, for_page integer) returns boolean
  language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
  return not exists (select from status_pages p where p.slug = of_slug and p.deleted_at is null and p.id is distinct from for_page)
    and not exists (select from status_page_slugs s
      where s.slug = of_slug and s.taken_until > clock_timestamp() and (s.page_id is null or s.page_id is distinct from for_page));
end
$$;
revoke execute on function identity_status_page_slug_is_free(text, integer) from public, parallax_worker;
grant execute on function identity_status_page_slug_is_free(text, integer) to parallax_api;
