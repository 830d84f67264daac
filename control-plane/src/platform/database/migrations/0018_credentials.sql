-- Personal access tokens: durable credentials of a user, taken wherever a bearer token is.
create table access_tokens (
  id integer generated always as identity primary key,
  user_id integer not null references users on delete cascade,
  name text not null check (length(name) between 1 and 200),
  -- The first characters, to recognise a token by; the token itself is kept as its SHA-256 only.
  prefix text not null,
  token_hash bytea not null unique,
  read_only boolean not null default false,
  -- null: all workspaces of the user.
  workspace_ids integer[] check (cardinality(workspace_ids) between 1 and 1000),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now()
);
create index access_tokens_user on access_tokens (user_id);

alter table access_tokens enable row level security;
alter table access_tokens force row level security;
create policy own_access_tokens on access_tokens using (user_id = current_user_id());
create policy lookups_of_owner on access_tokens to current_user using (true) with check (true);
grant select, insert, update on access_tokens to parallax_api;
grant usage, select on sequence access_tokens_id_seq to parallax_api;

-- Everything that a request may know of its caller, by a personal access token; notes its use at most once a minute.
create function identity_caller_of_access_token(
  of_hash bytea, out user_id integer, out is_administrator boolean, out plan text, out roles jsonb, out read_only boolean
)
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  token access_tokens%rowtype;
begin
  select * into token from access_tokens
  where access_tokens.token_hash = of_hash and access_tokens.revoked_at is null
    and (access_tokens.expires_at is null or access_tokens.expires_at > now());
  if not found then
    return;
  end if;
  if token.last_used_at is null or token.last_used_at < now() - interval '1 minute' then
    -- Requests with the same token do not wait for each other to note that it was used.
    update access_tokens set last_used_at = now()
    where access_tokens.id in (select a.id from access_tokens a where a.id = token.id for update skip locked);
  end if;
  select users.id, users.is_administrator, users.plan,
         coalesce((select jsonb_object_agg(m.workspace_id, m.role) from workspace_members m
                   where m.user_id = users.id and (token.workspace_ids is null or m.workspace_id = any (token.workspace_ids))), '{}'),
         token.read_only
  into identity_caller_of_access_token.user_id, identity_caller_of_access_token.is_administrator,
       identity_caller_of_access_token.plan, identity_caller_of_access_token.roles, identity_caller_of_access_token.read_only
  from users where users.id = token.user_id and users.deleted_at is null;
end
$$;
revoke execute on function identity_caller_of_access_token(bytea) from public, parallax_worker;
grant execute on function identity_caller_of_access_token(bytea) to parallax_api;

-- The log is read by workspace, or by user for what belongs to no workspace, newest first and within a time.
alter table audit_log drop constraint audit_log_actor_check;
alter table audit_log add constraint audit_log_actor_check
  check (actor in ('user', 'api_key', 'access_token', 'system', 'command'));
create index audit_log_workspace_at on audit_log (workspace_id, at, id);
drop index audit_log_workspace;
create index audit_log_account_at on audit_log (user_id, at, id) where workspace_id is null;

-- Which key-encryption keys a replica holds and which one it seals with: a key is exchanged when all replicas hold the new one.
alter table replicas add column seals_with text, add column holds_keys text[];

-- Counts a request under a key in two windows; one that the short window refuses does not use up the long one. A function, since its
-- statements are planned once for each connection: planning them costs more than running them.
-- Windows begin at multiples of their length since the epoch. Above its quota plus one a counter stays where it is.
create function count_in_two_windows(
  of_key text, short_name text, short_quota integer, short_seconds integer, long_name text, long_quota integer, long_seconds integer,
  out short_used integer, out short_reset_seconds float8, out long_used integer, out long_reset_seconds float8
)
  language plpgsql volatile set search_path = public, pg_temp
as $$
declare
  epoch_seconds float8 := extract(epoch from now());
  short_start timestamptz := to_timestamp(floor(epoch_seconds / short_seconds) * short_seconds);
  long_start timestamptz := to_timestamp(floor(epoch_seconds / long_seconds) * long_seconds);
begin
  insert into rate_limits as counter (key, window_started_at, used)
  values (of_key || ' ' || short_name, short_start, 1)
  on conflict (key) do update set
    used = case when counter.window_started_at = excluded.window_started_at then least(counter.used + 1, short_quota + 1) else 1 end,
    window_started_at = excluded.window_started_at
  returning used into short_used;
  if short_used <= short_quota then
    insert into rate_limits as counter (key, window_started_at, used)
    values (of_key || ' ' || long_name, long_start, 1)
    on conflict (key) do update set
      used = case when counter.window_started_at = excluded.window_started_at then least(counter.used + 1, long_quota + 1) else 1 end,
      window_started_at = excluded.window_started_at
    returning used into long_used;
  else
    select counter.used into long_used from rate_limits as counter
    where counter.key = of_key || ' ' || long_name and counter.window_started_at = long_start;
    long_used := coalesce(long_used, 0);
  end if;
  short_reset_seconds := short_seconds - (epoch_seconds - extract(epoch from short_start));
  long_reset_seconds := long_seconds - (epoch_seconds - extract(epoch from long_start));
end
$$;
grant execute on function count_in_two_windows(text, text, integer, integer, text, integer, integer) to parallax_api;
