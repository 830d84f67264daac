-- Host names that status pages are served under. Several pages may claim one name; only one of them can stand as proven.
create table status_page_domains (
  page_id integer primary key,
  workspace_id integer not null,
  -- In lower case, in the form of the DNS (IDNA), without the dot of the root.
  domain text not null check (domain ~ '^[a-z0-9-]+(\.[a-z0-9-]+)+$' and length(domain) <= 243),
  -- What the TXT record `_parallax.{domain}` must hold. It is public in the DNS once it stands there.
  proof text not null check (length(proof) between 20 and 100),
  -- pending: not proven yet; lost: the proof was gone for too long.
  state text not null default 'pending' check (state in ('pending', 'verified', 'lost')),
  -- When the proof was looked for last; null: never.
  checked_at timestamptz,
  -- Since when the proof of a verified domain is gone; null: it stands.
  missing_since timestamptz,
  foreign key (workspace_id, page_id) references status_pages (workspace_id, id) on delete cascade
);
create unique index status_page_domains_verified on status_page_domains (domain) where state = 'verified';
create index status_page_domains_checked on status_page_domains (checked_at) where state = 'verified';
create index status_page_domains_workspace on status_page_domains (workspace_id);

-- Pictures of status pages.
create table status_page_files (
  page_id integer not null,
  workspace_id integer not null,
  kind text not null check (kind in ('logo-light', 'logo-dark', 'favicon')),
  -- The first half of the SHA-256 of the bytes, in hexadecimal digits: part of the address.
  hash text not null check (hash ~ '^[0-9a-f]{32}$'),
  type text not null check (type in ('png', 'webp', 'svg')),
  -- In pixels; null: an SVG that names no size.
  width integer,
  height integer,
  bytes bytea not null check (length(bytes) <= 500000),
  primary key (page_id, kind),
  foreign key (workspace_id, page_id) references status_pages (workspace_id, id) on delete cascade
);
create index status_page_files_workspace on status_page_files (workspace_id);

alter table status_page_domains enable row level security;
alter table status_page_domains force row level security;
create policy status_page_domains_of_tenant on status_page_domains using (workspace_id = any (current_workspaces()));
alter table status_page_files enable row level security;
alter table status_page_files force row level security;
create policy status_page_files_of_tenant on status_page_files using (workspace_id = any (current_workspaces()));
grant select, insert, update, delete on status_page_domains, status_page_files to parallax_api;
