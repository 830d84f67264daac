-- What stood twice in the look-ups of before stands once; people who come from a provider or the messenger may bring an invitation; the last
-- administrator stays.

-- Makes an account with its default workspace and writes that down. null: the address has an account.
create function make_account(
  new_email text, new_password_hash text, email_is_verified boolean, new_plan text, new_ping_key text, as_administrator boolean,
  detail jsonb, from_address text, in_request text
) returns integer
  language plpgsql set search_path = public, pg_temp
as $$
declare
  made_user integer;
  made_workspace integer;
begin
  insert into users (email, password_hash, email_verified, plan, is_administrator)
  values (new_email, new_password_hash, email_is_verified, new_plan, as_administrator)
  on conflict (email) do nothing
  returning id into made_user;
  if made_user is null then
    return null;
  end if;
  insert into workspaces (owner_id, name, ping_key)
  values (made_user, 'Default', new_ping_key)
  returning id into made_workspace;
  insert into workspace_members (workspace_id, user_id, role, is_default)
  values (made_workspace, made_user, 'owner', true);
  insert into audit_log (workspace_id, user_id, actor, action, subject_type, subject_id, detail, remote_address, request_id)
  values (made_workspace, made_user, 'user', 'user.registered', 'user', made_user::text,
          jsonb_build_object('is_administrator', as_administrator) || detail, from_address, in_request);
  return made_user;
end
$$;

create or replace function identity_register(
  new_email text, new_password_hash text, new_plan text, new_ping_key text,
  may_be_first boolean, may_be_later boolean, from_address text, in_request text,
  out outcome text, out user_id integer
)
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  is_first boolean := not exists (select from users);
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
  identity_register.user_id := make_account(
    new_email, new_password_hash, false, new_plan, new_ping_key, is_first, '{}', from_address, in_request);
  outcome := case when identity_register.user_id is null then 'email_taken' else 'created' end;
end
$$;

-- A sign-in at a provider carries the invitation that it began with, so that nobody can put another one in its place on the way back.
alter table pending_sign_ins add column invite_hash bytea;

drop function identity_begin_sign_in(bytea, bytea, text, integer, uuid, interval);
create function identity_begin_sign_in(
  of_state bytea, of_browser bytea, of_way text, for_user integer, for_session uuid, by_invite bytea, life interval
) returns void
  language sql volatile security definer set search_path = public, pg_temp
  begin atomic
    insert into pending_sign_ins (state_hash, browser_hash, way, user_id, session_id, invite_hash, expires_at)
    values (of_state, of_browser, of_way, for_user, for_session, by_invite, now() + life);
  end;

-- Takes a sign-in that came back, once, in the browser that began it. `session_lives` is null when nothing is to be linked.
drop function identity_take_sign_in(bytea, bytea, text);
create function identity_take_sign_in(
  of_state bytea, of_browser bytea, of_way text,
  out known boolean, out for_user integer, out session_lives boolean, out invite_hash bytea
)
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  pending pending_sign_ins%rowtype;
begin
  delete from pending_sign_ins
  where state_hash = of_state and browser_hash = of_browser and way = of_way and expires_at > now()
  returning * into pending;
  known := pending.state_hash is not null;
  for_user := pending.user_id;
  identity_take_sign_in.invite_hash := pending.invite_hash;
  if pending.user_id is not null then
    session_lives := exists (
      select from sessions
      where sessions.id = pending.session_id and sessions.revoked_at is null and sessions.absolute_until > now());
  end if;
end
$$;

-- The account that an identity elsewhere opens. An address that the provider did not verify opens none and is not taken over into a new account.
-- A new account uses up the invitation that it comes with, and becomes a member; one that exists comes in without using it up.
-- outcome: known; linked (by an address that both sides verified); created; account_exists (one has this address, but it must be linked from inside);
-- setup_token_required (there is no account at all); closed (it would be a new one); refused, with a verdict of `judge_invite`.
drop function identity_of_outside(text, text, text, text, boolean, text, text, boolean, text, text);
create function identity_of_outside(
  of_way text, of_issuer text, of_subject text, of_email text, email_is_verified boolean,
  new_plan text, new_ping_key text, may_create boolean, by_invite bytea, most_members integer, from_address text, in_request text,
  out outcome text, out user_id integer, out refusal text
)
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  proven_email text := case when email_is_verified then of_email end;
  account users%rowtype;
  judged record;
  made_identity integer;
begin
  -- The same identity from two browsers at once makes one account.
  perform pg_advisory_xact_lock(hashtextextended('parallax identity ' || of_way || ' ' || of_issuer || ' ' || of_subject, 0));
  update identities set last_used_at = now()
  where way = of_way and issuer = of_issuer and subject = of_subject
  returning identities.user_id into identity_of_outside.user_id;
  if identity_of_outside.user_id is not null then
    outcome := 'known';
    return;
  end if;
  if of_email is not null then
    select * into account from users where users.email = of_email;
  end if;
  if account.id is not null then
    if not (email_is_verified and account.email_verified) then
      outcome := 'account_exists';
      return;
    end if;
    identity_of_outside.user_id := account.id;
    outcome := 'linked';
  else
    if not exists (select from users) then
      outcome := 'setup_token_required';
      return;
    end if;
    if not may_create then
      outcome := 'closed';
      return;
    end if;
    if by_invite is not null then
      select * into judged from judge_invite(by_invite, null, proven_email, most_members);
      if judged.verdict <> 'open' then
        outcome := 'refused';
        refusal := judged.verdict;
        return;
      end if;
    end if;
    identity_of_outside.user_id := make_account(
      proven_email, null, proven_email is not null, new_plan, new_ping_key, false,
      jsonb_build_object('way', of_way), from_address, in_request);
    if identity_of_outside.user_id is null then
      -- Registered just now; an address that was registered a moment ago is not verified.
      outcome := 'account_exists';
      return;
    end if;
    if by_invite is not null then
      perform join_by_invite(judged.invite, by_invite, identity_of_outside.user_id, from_address, in_request);
    end if;
    outcome := 'created';
  end if;
  insert into identities (user_id, way, issuer, subject, email, last_used_at)
  values (identity_of_outside.user_id, of_way, of_issuer, of_subject, of_email, now())
  returning id into made_identity;
  insert into audit_log (user_id, actor, action, subject_type, subject_id, detail, remote_address, request_id)
  values (identity_of_outside.user_id, 'user', 'identity.linked', 'identity', made_identity::text,
          jsonb_build_object('way', of_way, 'issuer', of_issuer), from_address, in_request);
end
$$;

-- What a request may know of a caller by a durable credential that is limited to some workspaces (null: to none). No row for a deleted account.
create function caller_by_credential(
  of_user integer, of_workspaces integer[], out user_id integer, out is_administrator boolean, out plan text, out roles jsonb
)
  language sql stable set search_path = public, pg_temp
  begin atomic
    select users.id, users.is_administrator, users.plan,
           coalesce((select jsonb_object_agg(m.workspace_id, m.role) from workspace_members m
                     where m.user_id = users.id and (of_workspaces is null or m.workspace_id = any (of_workspaces))), '{}')
    from users where users.id = of_user and users.deleted_at is null;
  end;

create or replace function identity_caller_of_api_key(
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
  select c.user_id, c.is_administrator, c.plan, c.roles, key.read_only
  into identity_caller_of_api_key.user_id, identity_caller_of_api_key.is_administrator, identity_caller_of_api_key.plan,
       identity_caller_of_api_key.roles, identity_caller_of_api_key.read_only
  from caller_by_credential(key.user_id, key.workspace_ids) c;
end
$$;

create or replace function identity_caller_of_access_token(
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
  select c.user_id, c.is_administrator, c.plan, c.roles, token.read_only
  into identity_caller_of_access_token.user_id, identity_caller_of_access_token.is_administrator,
       identity_caller_of_access_token.plan, identity_caller_of_access_token.roles, identity_caller_of_access_token.read_only
  from caller_by_credential(token.user_id, token.workspace_ids) c;
end
$$;

-- Whether the user of the transaction is the only administrator. Administrators who ask at once wait for each other until the transaction
-- of the first has ended, so that of two who want to go one stays.
create function identity_is_last_administrator() returns boolean
  language plpgsql volatile security definer set search_path = public, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(hashtext('parallax last administrator'));
  return exists (select from users where id = current_user_id() and is_administrator)
    and not exists (select from users where id <> current_user_id() and is_administrator and deleted_at is null);
end
$$;

do $$
declare
  lookup regprocedure;
begin
  for lookup in
    select oid::regprocedure from pg_proc
    where pronamespace = 'public'::regnamespace
      and proname in ('identity_begin_sign_in', 'identity_take_sign_in', 'identity_of_outside', 'identity_is_last_administrator')
  loop
    execute format('revoke execute on function %s from public, parallax_worker', lookup);
    execute format('grant execute on function %s to parallax_api', lookup);
  end loop;
end
$$;
