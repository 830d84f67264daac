-- The messenger: who of its people has which account, which of its groups belong to which workspaces, and what its bot is told.

-- Accounts that were linked by the bot. Who signs in by the messenger is linked by that already (`identities`).
create table messenger_people (
  user_id integer primary key references users on delete cascade,
  -- The messenger's number of the person, which is also that of the chat with them; at most 52 bits.
  person_id bigint not null unique check (person_id > 0),
  name text not null check (length(name) <= 200),
  created_at timestamptz not null default now()
);

-- One group may belong to several workspaces: the bot leaves it with the last.
create table messenger_groups (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspaces,
  chat_id bigint not null,
  title text not null check (length(title) between 1 and 255),
  -- Who linked it.
  user_id integer references users on delete set null,
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workspace_id, chat_id)
);
create index messenger_groups_chat on messenger_groups (chat_id);

-- Deep links that were handed out: SHA-256 of their token. One without a workspace links a person.
create table messenger_link_tokens (
  token_hash bytea primary key,
  user_id integer not null references users on delete cascade,
  workspace_id integer references workspaces,
  expires_at timestamptz not null
);
create index messenger_link_tokens_user on messenger_link_tokens (user_id);

-- What the bot was told and what is to be done about it, without anything that is nobody's business here. Kept for two days after it was done, so that
-- what is told twice is done once.
create table messenger_updates (
  id bigint generated always as identity primary key,
  bot_id bigint not null,
  update_id bigint not null,
  -- 0 where it comes from no chat.
  chat_id bigint not null,
  payload jsonb not null,
  -- What is still to be sent for it; null until it was acted upon.
  answers jsonb,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  leased_until timestamptz,
  done_at timestamptz,
  created_at timestamptz not null default now(),
  unique (bot_id, update_id)
);
create index messenger_updates_waiting on messenger_updates (chat_id, id) where done_at is null;
create index messenger_updates_done on messenger_updates (done_at) where done_at is not null;

-- Who receives for a bot, and how far it has received. One row for each bot that was ever set.
create table messenger_receivers (
  bot_id bigint primary key,
  owner text,
  leased_until timestamptz,
  next_offset bigint,
  last_update_at timestamptz
);

-- When answers went to a chat lately, and until when nothing may.
create table messenger_pace (
  chat_id bigint primary key,
  sent_at timestamptz[] not null default '{}',
  free_at timestamptz not null default now()
);

-- Groups that nobody uses any more, for the bot to leave.
create table messenger_departures (
  chat_id bigint primary key,
  attempts integer not null default 0,
  due_at timestamptz not null default '-infinity'
);

alter table messenger_people enable row level security;
alter table messenger_people force row level security;
create policy own_messenger_people on messenger_people using (user_id = current_user_id());
alter table messenger_groups enable row level security;
alter table messenger_groups force row level security;
create policy messenger_groups_of_tenant on messenger_groups using (workspace_id = any (current_workspaces()));
alter table messenger_link_tokens enable row level security;
alter table messenger_link_tokens force row level security;
create policy own_messenger_link_tokens on messenger_link_tokens using (
  user_id = current_user_id() and (workspace_id is null or workspace_id = any (current_workspaces())));
grant select, insert, delete on messenger_people, messenger_link_tokens to parallax_api;
grant select, update, delete on messenger_groups to parallax_api;
-- Requests may leave something there, and see nothing of it: they hold what no tenant is named in.
grant insert on messenger_updates, messenger_departures to parallax_api;
grant usage, select on sequence messenger_updates_id_seq to parallax_api;

-- Team chat: permissions that are being asked for. State and the browser's cookie are kept as SHA-256 only.
create table team_chat_requests (
  state_hash bytea primary key,
  browser_hash bytea not null,
  user_id integer not null references users on delete cascade,
  session_id uuid not null references sessions on delete cascade,
  expires_at timestamptz not null
);
create index team_chat_requests_user on team_chat_requests (user_id);
alter table team_chat_requests enable row level security;
alter table team_chat_requests force row level security;
create policy own_team_chat_requests on team_chat_requests using (user_id = current_user_id());
create policy lookups_of_owner on team_chat_requests to current_user using (true) with check (true);
grant select, insert, delete on team_chat_requests to parallax_api;

-- Takes a request that came back, once, in the browser that began it. null: there is none, or its session has ended.
create function identity_take_team_chat_request(of_state bytea, of_browser bytea) returns integer
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  pending team_chat_requests%rowtype;
begin
  delete from team_chat_requests
  where state_hash = of_state and browser_hash = of_browser and expires_at > now()
  returning * into pending;
  return (
    select sessions.user_id from sessions
    where sessions.id = pending.session_id and sessions.revoked_at is null and sessions.absolute_until > now());
end
$$;
revoke execute on function identity_take_team_chat_request(bytea, bytea) from public, parallax_worker;
grant execute on function identity_take_team_chat_request(bytea, bytea) to parallax_api;
