-- Ways in beside the password. An account that came by another way may have neither an address nor a password.
alter table users alter column email drop not null;
alter table users alter column password_hash drop not null;

-- Accounts elsewhere that let their owner in.
create table identities (
  id integer generated always as identity primary key,
  user_id integer not null references users on delete cascade,
  way text not null check (way in ('identity_provider_a', 'identity_provider_b', 'messenger')),
  -- Beside the subject, so that another provider under the same setting lets nobody in by its own numbers.
  issuer text not null check (length(issuer) <= 2048),
  -- OpenID Connect Core, section 2: at most 255 ASCII characters.
  subject text not null check (length(subject) between 1 and 255),
  -- As the provider told it when the identity was linked; only for showing.
  email text check (length(email) <= 254),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  unique (way, issuer, subject)
);
create index identities_user on identities (user_id);

-- Sign-ins that are at a provider. `state` and the browser's cookie are kept as SHA-256 only; what else the callback needs is made from the cookie.
create table pending_sign_ins (
  state_hash bytea primary key,
  browser_hash bytea not null,
  way text not null check (way in ('identity_provider_a', 'identity_provider_b')),
  -- Set when the identity is to be linked to this account, while this session lives.
  user_id integer references users on delete cascade,
  session_id uuid references sessions on delete cascade,
  expires_at timestamptz not null
);

-- What may count once: a messenger's signature, by its SHA-256.
create table used_proofs (
  digest bytea primary key,
  expires_at timestamptz not null
);

-- Steps of a sign-in or registration that wait for an answer; the token that names one is kept as its SHA-256 only.
create table sign_in_challenges (
  token_hash bytea primary key,
  purpose text not null check (purpose in ('second_factor', 'passkey_registration', 'passkey_sign_in')),
  user_id integer references users on delete cascade,
  -- The way that came before the second factor.
  way text,
  expires_at timestamptz not null,
  check ((user_id is null) = (purpose = 'passkey_sign_in'))
);
create index sign_in_challenges_user on sign_in_challenges (user_id);

create table totp_factors (
  user_id integer primary key references users on delete cascade,
  -- Sealed; 20 bytes.
  secret bytea not null,
  confirmed_at timestamptz,
  -- The step of the last code that counted: no code of it or before counts again (RFC 6238, section 5.2).
  last_step bigint not null default 0,
  created_at timestamptz not null default now()
);

create table recovery_codes (
  id integer generated always as identity primary key,
  user_id integer not null references users on delete cascade,
  -- SHA-256 of 80 random bits.
  code_hash bytea not null,
  used_at timestamptz,
  unique (user_id, code_hash)
);

create table passkeys (
  id integer generated always as identity primary key,
  user_id integer not null references users on delete cascade,
  name text not null check (length(name) between 1 and 200),
  credential_id bytea not null unique check (length(credential_id) between 1 and 1023),
  -- COSE_Key.
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null default '{}',
  backed_up boolean not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_user on passkeys (user_id);

alter table identities enable row level security;
alter table identities force row level security;
create policy own_identities on identities using (user_id = current_user_id());
alter table totp_factors enable row level security;
alter table totp_factors force row level security;
create policy own_totp_factors on totp_factors using (user_id = current_user_id());
alter table recovery_codes enable row level security;
alter table recovery_codes force row level security;
create policy own_recovery_codes on recovery_codes using (user_id = current_user_id());
alter table passkeys enable row level security;
alter table passkeys force row level security;
create policy own_passkeys on passkeys using (user_id = current_user_id());
-- No request reads these but through the functions below.
alter table pending_sign_ins enable row level security;
alter table pending_sign_ins force row level security;
alter table used_proofs enable row level security;
alter table used_proofs force row level security;
alter table sign_in_challenges enable row level security;
alter table sign_in_challenges force row level security;

grant select, insert, update, delete on identities, totp_factors, recovery_codes, passkeys to parallax_api;
grant usage, select on all sequences in schema public to parallax_api;

create policy lookups_of_owner on identities to current_user using (true) with check (true);
create policy lookups_of_owner on passkeys to current_user using (true) with check (true);
create policy lookups_of_owner on pending_sign_ins to current_user using (true) with check (true);
create policy lookups_of_owner on used_proofs to current_user using (true) with check (true);
create policy lookups_of_owner on sign_in_challenges to current_user using (true) with check (true);

-- Notes a sign-in that goes to a provider.
create function identity_begin_sign_in(
  of_state bytea, of_browser bytea, of_way text, for_user integer, for_session uuid, life interval
) returns void
  language sql volatile security definer set search_path = public, pg_temp
  begin atomic
    insert into pending_sign_ins (state_hash, browser_hash, way, user_id, session_id, expires_at)
    values (of_state, of_browser, of_way, for_user, for_session, now() + life);
  end;

-- Takes a sign-in that came back, once, in the browser that began it. `session_lives` is null when nothing is to be linked.
create function identity_take_sign_in(
  of_state bytea, of_browser bytea, of_way text, out known boolean, out for_user integer, out session_lives boolean
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
  if pending.user_id is not null then
    session_lives := exists (
      select from sessions
      where sessions.id = pending.session_id and sessions.revoked_at is null and sessions.absolute_until > now());
  end if;
end
$$;

-- Counts a proof, once: false when it counted before.
create function identity_use_proof(of_digest bytea, life interval) returns boolean
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  insert into used_proofs (digest, expires_at) values (of_digest, now() + life) on conflict do nothing;
  return found;
end
$$;

-- The account that an identity elsewhere opens. An address that the provider did not verify opens none and is not taken over into a new account.
-- outcome: known; linked (by an address that both sides verified); created; account_exists (one has this address, but it must be linked from inside);
-- setup_token_required (there is no account at all); closed (it would be a new one).
create function identity_of_outside(
  of_way text, of_issuer text, of_subject text, of_email text, email_is_verified boolean,
  new_plan text, new_ping_key text, may_create boolean, from_address text, in_request text,
  out outcome text, out user_id integer
)
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  account users%rowtype;
  made_workspace integer;
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
    insert into users (email, email_verified, plan)
    values (case when email_is_verified then of_email end, email_is_verified and of_email is not null, new_plan)
    on conflict (email) do nothing
    returning id into identity_of_outside.user_id;
    if identity_of_outside.user_id is null then
      -- Registered just now; an address that was registered a moment ago is not verified.
      outcome := 'account_exists';
      return;
    end if;
    insert into workspaces (owner_id, name, ping_key)
    values (identity_of_outside.user_id, 'Default', new_ping_key)
    returning id into made_workspace;
    insert into workspace_members (workspace_id, user_id, role, is_default)
    values (made_workspace, identity_of_outside.user_id, 'owner', true);
    insert into audit_log (workspace_id, user_id, actor, action, subject_type, subject_id, detail, remote_address, request_id)
    values (made_workspace, identity_of_outside.user_id, 'user', 'user.registered', 'user', identity_of_outside.user_id::text,
            jsonb_build_object('is_administrator', false, 'way', of_way), from_address, in_request);
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

-- Notes a step that waits for an answer.
create function identity_begin_challenge(of_token bytea, of_purpose text, for_user integer, of_way text, life interval) returns void
  language sql volatile security definer set search_path = public, pg_temp
  begin atomic
    insert into sign_in_challenges (token_hash, purpose, user_id, way, expires_at)
    values (of_token, of_purpose, for_user, of_way, now() + life);
  end;

-- What a token stands for; `known` is false for one that is unknown, too old or was used.
create function identity_challenge(of_token bytea, of_purpose text, out known boolean, out for_user integer, out way text)
  language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
  select challenge.user_id, challenge.way into for_user, identity_challenge.way
  from sign_in_challenges challenge
  where challenge.token_hash = of_token and challenge.purpose = of_purpose and challenge.expires_at > now();
  known := found;
end
$$;

-- Uses a token up; false when another did before.
create function identity_take_challenge(of_token bytea, of_purpose text) returns boolean
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  delete from sign_in_challenges where token_hash = of_token and purpose = of_purpose and expires_at > now();
  return found;
end
$$;

-- The passkey of a credential.
create function identity_passkey(
  of_credential bytea, out id integer, out user_id integer, out public_key bytea, out counter bigint, out transports text[]
)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select passkeys.id, passkeys.user_id, passkeys.public_key, passkeys.counter, passkeys.transports
    from passkeys where passkeys.credential_id = of_credential;
  end;

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
