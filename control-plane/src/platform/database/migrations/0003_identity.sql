create table users (
  id integer generated always as identity primary key,
  email text not null check (email = lower(email) and length(email) <= 254),
  -- Argon2id in PHC form.
  password_hash text not null,
  display_name text check (length(display_name) <= 80),
  locale text not null default 'en' check (locale in ('en', 'ru')),
  timezone text not null default 'UTC',
  plan text not null check (plan in ('free', 'paid', 'self_hosted')),
  is_administrator boolean not null default false,
  email_verified boolean not null default false,
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index users_email on users (email);
-- Exactly one account wins the race to be the first.
create unique index users_first_administrator on users (is_administrator) where is_administrator and id = 1;

-- One family of refresh tokens. A token is made from the session, its counter and a key of the installation, so none is stored.
create table sessions (
  id uuid primary key default gen_random_uuid(),
  user_id integer not null references users on delete cascade,
  -- Mixed into each token of the family.
  salt bytea not null,
  counter integer not null default 1,
  -- When the counter last moved: its immediate predecessor is accepted for 10 s more.
  rotated_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  idle_until timestamptz not null,
  absolute_until timestamptz not null,
  revoked_at timestamptz,
  revoked_reason text check (revoked_reason in ('logout', 'logout_all', 'reuse', 'password')),
  user_agent text,
  remote_address text
);
create index sessions_user on sessions (user_id) where revoked_at is null;

create table workspaces (
  id integer generated always as identity primary key,
  owner_id integer not null references users,
  name text not null check (length(name) between 1 and 200),
  ping_key text not null unique,
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index workspaces_owner on workspaces (owner_id);

create table workspace_members (
  workspace_id integer not null references workspaces on delete cascade,
  user_id integer not null references users on delete cascade,
  role text not null check (role in ('owner', 'editor', 'viewer')),
  is_default boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);
create index workspace_members_user on workspace_members (user_id);
create unique index workspace_members_default on workspace_members (user_id) where is_default;

create table api_keys (
  id integer generated always as identity primary key,
  user_id integer not null references users on delete cascade,
  name text not null check (length(name) between 1 and 200),
  -- The first characters, to recognise a key by; the key itself is kept as its SHA-256 only.
  prefix text not null,
  key_hash bytea not null unique,
  read_only boolean not null default false,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now()
);
create index api_keys_user on api_keys (user_id);

create table audit_log (
  id bigint generated always as identity primary key,
  workspace_id integer,
  user_id integer,
  actor text not null check (actor in ('user', 'api_key', 'system', 'command')),
  action text not null,
  subject_type text not null,
  subject_id text,
  detail jsonb not null default '{}',
  remote_address text,
  request_id text,
  at timestamptz not null default now()
);
create index audit_log_workspace on audit_log (workspace_id, id);

alter table users enable row level security;
alter table users force row level security;
create policy own_user on users using (id = current_user_id());
alter table sessions enable row level security;
alter table sessions force row level security;
create policy own_sessions on sessions using (user_id = current_user_id());
alter table api_keys enable row level security;
alter table api_keys force row level security;
create policy own_api_keys on api_keys using (user_id = current_user_id());
alter table workspaces enable row level security;
alter table workspaces force row level security;
create policy member_workspaces on workspaces using (id = any (current_workspaces()) or owner_id = current_user_id());
alter table workspace_members enable row level security;
alter table workspace_members force row level security;
create policy member_rows on workspace_members using (workspace_id = any (current_workspaces()) or user_id = current_user_id());
alter table audit_log enable row level security;
alter table audit_log force row level security;
create policy audit_of_tenant on audit_log using (workspace_id = any (current_workspaces()) or user_id = current_user_id());

grant select, insert, update on users, sessions, workspaces, api_keys to parallax_api;
grant select, insert, update, delete on workspace_members to parallax_api;
grant select, insert on audit_log to parallax_api;
grant usage, select on all sequences in schema public to parallax_api;
