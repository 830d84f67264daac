-- Who may read a page; all of it empty: everybody.
alter table status_pages
  -- Argon2id in PHC form.
  add column password_hash text check (length(password_hash) between 1 and 500),
  -- Whoever reads mail at one of these gets a link.
  add column allowed_mail_domains text[] not null default '{}' check (cardinality(allowed_mail_domains) <= 20),
  -- Networks whose clients need nothing else.
  add column allowed_addresses text[] not null default '{}' check (cardinality(allowed_addresses) <= 50),
  -- Counts changes of the three above: what was let in before one is let in no more.
  add column access_version integer not null default 1;

-- Links that were mailed to readers of private pages. They live for minutes; rows stay for an hour, because mails to an address are counted by them.
create table status_page_links (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  workspace_id integer not null,
  page_id integer not null,
  access_version integer not null,
  -- A keyed hash: who reads a page is nobody's business.
  address_hash bytea not null check (octet_length(address_hash) = 32),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  used_at timestamptz,
  foreign key (workspace_id, page_id) references status_pages (workspace_id, id) on delete cascade
);
create index status_page_links_page on status_page_links (page_id, address_hash, created_at);
create index status_page_links_created on status_page_links (created_at);
alter table status_page_links enable row level security;
alter table status_page_links force row level security;
create policy status_page_links_of_tenant on status_page_links using (workspace_id = any (current_workspaces()));
grant select on status_page_links to parallax_api;
grant update (used_at) on status_page_links to parallax_api;

-- The published page that a slug leads to, with the slug that it has now and who may read it; no row where there is none.
drop function identity_status_page(text);
create function identity_status_page(
    of_slug text, out page_id integer, out workspace_id integer, out slug text, out access_version integer, out password_hash text,
    out allowed_mail_domains text[], out allowed_addresses text[])
  language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
  select p.id, p.workspace_id, p.slug, p.access_version, p.password_hash, p.allowed_mail_domains, p.allowed_addresses
  into identity_status_page.page_id, identity_status_page.workspace_id, identity_status_page.slug, identity_status_page.access_version,
    identity_status_page.password_hash, identity_status_page.allowed_mail_domains, identity_status_page.allowed_addresses
  from status_pages p join workspaces w on w.id = p.workspace_id and w.deleted_at is null
  where p.deleted_at is null and p.is_published and (
    p.slug = of_slug
    or p.id = (select s.page_id from status_page_slugs s where s.slug = of_slug and s.taken_until > clock_timestamp()))
  order by (p.slug = of_slug) desc limit 1;
end
$$;
revoke execute on function identity_status_page(text) from public, parallax_worker;
grant execute on function identity_status_page(text) to parallax_api;

-- Which of the slugs are those of published pages, and how often it was changed who may read them: for pages that processes keep in files.
create function identity_status_page_versions(of_slugs text[]) returns table (slug text, page_id integer, access_version integer)
  language sql stable security definer set search_path = public, pg_temp
as $$
  select p.slug, p.id, p.access_version from status_pages p join workspaces w on w.id = p.workspace_id and w.deleted_at is null
  where p.slug = any (of_slugs) and p.deleted_at is null and p.is_published
$$;
revoke execute on function identity_status_page_versions(text[]) from public, parallax_worker;
grant execute on function identity_status_page_versions(text[]) to parallax_api;

-- What an incident by hand begins as, so that nobody has to find words in an outage.
create table incident_templates (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspaces,
  name text not null check (length(name) between 1 and 200),
  title text not null check (length(title) between 1 and 200),
  severity text not null check (severity in ('minor', 'major', 'critical')),
  public_title text check (length(public_title) between 1 and 200),
  update_kind text check (update_kind in ('investigating', 'identified', 'monitoring', 'note')),
  update_body text check (length(update_body) between 1 and 10000),
  version integer not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  check ((update_kind is null) = (update_body is null))
);
create index incident_templates_workspace on incident_templates (workspace_id, id);
alter table incident_templates enable row level security;
alter table incident_templates force row level security;
create policy incident_templates_of_tenant on incident_templates using (workspace_id = any (current_workspaces()));
grant select, insert, update, delete on incident_templates to parallax_api;
grant usage, select on sequence incident_templates_id_seq to parallax_api;
