-- Look-ups before the tenant is known, as functions that run as the owner of the schema: the closed list of ways by which a
-- request passes row-level security. A test compares it with the catalog.

-- Functions are executable by everybody unless that is taken back for the whole database; taking it back for a schema does nothing.
alter default privileges revoke execute on functions from public;
revoke execute on all functions in schema public from public;

-- null: all workspaces of the user.
alter table api_keys add column workspace_ids integer[] check (cardinality(workspace_ids) between 1 and 1000);

-- Row-level security is forced on the owner too, so that only these functions read across tenants, and only these tables.
create policy lookups_of_owner on users to current_user using (true) with check (true);
create policy lookups_of_owner on sessions to current_user using (true) with check (true);
create policy lookups_of_owner on workspaces to current_user using (true) with check (true);
create policy lookups_of_owner on workspace_members to current_user using (true) with check (true);
create policy lookups_of_owner on api_keys to current_user using (true) with check (true);
create policy lookups_of_owner on audit_log to current_user using (true) with check (true);

-- Whether the first account is still to come.
create function identity_has_accounts() returns boolean
  language sql stable security definer set search_path = public, pg_temp
  return exists (select from users);

-- Makes an account with its default workspace. Accounts that could be the first wait for each other, so exactly one is.
-- outcome: created; email_taken; setup_token_required (the first account, without proof); closed (not the first).
create function identity_register(
  new_email text, new_password_hash text, new_plan text, new_ping_key text,
  may_be_first boolean, may_be_later boolean, from_address text, in_request text,
  out outcome text, out user_id integer
)
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  is_first boolean := not exists (select from users);
  made_workspace integer;
begin
  if is_first then
    perform pg_advisory_xact_lock(hashtext('parallax first account'));
    is_first := not exists (select from users);
  end if;
  if is_first and not may_be_first then
    outcome := 'setup_token_required';
    return;
  end if;
  if not is_first and not may_be_later then
    outcome := 'closed';
    return;
  end if;
  insert into users (email, password_hash, plan, is_administrator)
  values (new_email, new_password_hash, new_plan, is_first)
  on conflict (email) do nothing
  returning id into identity_register.user_id;
  if identity_register.user_id is null then
    outcome := 'email_taken';
    return;
  end if;
  insert into workspaces (owner_id, name, ping_key)
  values (identity_register.user_id, 'Default', new_ping_key)
  returning id into made_workspace;
  insert into workspace_members (workspace_id, user_id, role, is_default)
  values (made_workspace, identity_register.user_id, 'owner', true);
  insert into audit_log (workspace_id, user_id, actor, action, subject_type, subject_id, detail, remote_address, request_id)
  values (made_workspace, identity_register.user_id, 'user', 'user.registered', 'user', identity_register.user_id::text,
          jsonb_build_object('is_administrator', is_first), from_address, in_request);
  outcome := 'created';
end
$$;

-- What a login compares with.
create function identity_login(of_email text, out user_id integer, out password_hash text)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select users.id, users.password_hash from users where users.email = of_email;
  end;

-- The same statement whether or not the account exists.
create function identity_login_failed(of_email text, from_address text, in_request text) returns void
  language sql volatile security definer set search_path = public, pg_temp
  begin atomic
    insert into audit_log (user_id, actor, action, subject_type, subject_id, remote_address, request_id)
    select account.id, 'user', 'login.failed', 'user', account.id::text, from_address, in_request
    from (select max(users.id) as id from users where users.email = of_email) as account;
  end;

-- What the proof in a refresh token is checked with.
create function identity_session_salt(of_session uuid) returns bytea
  language sql stable security definer set search_path = public, pg_temp
  return (select sessions.salt from sessions where sessions.id = of_session);

-- Takes a refresh token whose proof was checked.
-- outcome: rotated; repeated (the immediate predecessor within the leeway: the pair of the present counter);
-- reused (the family was revoked by this call); limited; ended (revoked or too old before).
create function identity_refresh(
  of_session uuid, given_counter integer, leeway interval, idle interval, per_minute integer,
  from_address text, in_request text,
  out outcome text, out counter integer, out rotated_at timestamptz, out user_id integer
)
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  family sessions%rowtype;
  -- Not now(): this transaction may have waited for the one that rotated.
  at timestamptz;
  used_in_minute integer;
begin
  select * into family from sessions where sessions.id = of_session for update;
  at := clock_timestamp();
  if not found or family.revoked_at is not null or family.idle_until <= at or family.absolute_until <= at then
    outcome := 'ended';
    return;
  end if;
  identity_refresh.user_id := family.user_id;
  if given_counter = family.counter then
    insert into rate_limits as used_up (key, window_started_at, used)
    values ('refresh:' || of_session || ' minute', date_trunc('minute', at), 1)
    on conflict (key) do update set
      used = case when used_up.window_started_at = excluded.window_started_at then used_up.used + 1 else 1 end,
      window_started_at = excluded.window_started_at
    returning used into used_in_minute;
    if used_in_minute > per_minute then
      outcome := 'limited';
      return;
    end if;
    update sessions set
      counter = family.counter + 1, rotated_at = at, last_used_at = at, idle_until = least(at + idle, family.absolute_until)
    where sessions.id = of_session;
    outcome := 'rotated';
    identity_refresh.counter := family.counter + 1;
    identity_refresh.rotated_at := at;
  elsif given_counter = family.counter - 1 and family.rotated_at > at - leeway then
    outcome := 'repeated';
    identity_refresh.counter := family.counter;
    identity_refresh.rotated_at := family.rotated_at;
  else
    update sessions set revoked_at = at, revoked_reason = 'reuse' where sessions.id = of_session;
    insert into audit_log (user_id, actor, action, subject_type, subject_id, detail, remote_address, request_id)
    values (family.user_id, 'user', 'session.reuse_detected', 'session', of_session::text,
            jsonb_build_object('given', given_counter, 'present', family.counter), from_address, in_request);
    outcome := 'reused';
  end if;
end
$$;

-- Everything that a request may know of its caller, by the session of an access token.
create function identity_caller_of_session(
  of_session uuid, out user_id integer, out is_administrator boolean, out plan text, out roles jsonb
)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select users.id, users.is_administrator, users.plan,
           coalesce((select jsonb_object_agg(m.workspace_id, m.role) from workspace_members m where m.user_id = users.id), '{}')
    from sessions
    join users on users.id = sessions.user_id
    where sessions.id = of_session and sessions.revoked_at is null and sessions.absolute_until > now();
  end;

-- The same by an API key; notes its use at most once a minute.
create function identity_caller_of_api_key(
  of_hash bytea, out user_id integer, out is_administrator boolean, out plan text, out roles jsonb, out read_only boolean
)
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  key api_keys%rowtype;
begin
  select * into key from api_keys
  where api_keys.key_hash = of_hash and api_keys.revoked_at is null
    and (api_keys.expires_at is null or api_keys.expires_at > now());
  if not found then
    return;
  end if;
  if key.last_used_at is null or key.last_used_at < now() - interval '1 minute' then
    -- Requests of the same key do not wait for each other to note that it was used.
    update api_keys set last_used_at = now()
    where api_keys.id in (select k.id from api_keys k where k.id = key.id for update skip locked);
  end if;
  select users.id, users.is_administrator, users.plan,
         coalesce((select jsonb_object_agg(m.workspace_id, m.role) from workspace_members m
                   where m.user_id = users.id and (key.workspace_ids is null or m.workspace_id = any (key.workspace_ids))), '{}'),
         key.read_only
  into identity_caller_of_api_key.user_id, identity_caller_of_api_key.is_administrator, identity_caller_of_api_key.plan,
       identity_caller_of_api_key.roles, identity_caller_of_api_key.read_only
  from users where users.id = key.user_id;
end
$$;

do $$
declare
  lookup regprocedure;
begin
  for lookup in
    select oid::regprocedure from pg_proc
    where pronamespace = 'public'::regnamespace and proname like 'identity\_%'
  loop
    execute format('revoke execute on function %s from public, parallax_worker', lookup);
    execute format('grant execute on function %s to parallax_api', lookup);
  end loop;
end
$$;

-- Which schema the database has; made by the migration runner before any default privilege.
grant select on schema_migrations to parallax_api, parallax_worker;
