-- Links that are mailed to an account: to choose a new password, or to confirm an address. Only the SHA-256 of a token is kept.
create table account_tokens (
  id bigint generated always as identity primary key,
  user_id integer not null references users on delete cascade,
  purpose text not null check (purpose in ('password', 'email')),
  token_hash bytea not null unique check (length(token_hash) = 32),
  -- The address that it was mailed to: using the token proves that its reader has this address, and no other.
  email text not null,
  expires_at timestamptz not null,
  -- Used, or made void by another one.
  used_at timestamptz,
  created_at timestamptz not null default now()
);
create index account_tokens_user on account_tokens (user_id, purpose, created_at);
alter table account_tokens enable row level security;
alter table account_tokens force row level security;
create policy own_account_tokens on account_tokens using (user_id = current_user_id());
create policy lookups_of_owner on account_tokens to current_user using (true);
grant select, insert, update on account_tokens to parallax_api;

-- Mails on their way out, moved here from the outbox: a slow server must hold up neither a transaction nor the rows behind it.
create table mails (
  -- Also the left part of the Message-ID, so that a mail that was sent twice is recognised as one.
  id uuid primary key default gen_random_uuid(),
  -- The whole mail, address included; null once it was given up.
  sealed bytea,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  -- A process tries to send it until then.
  leased_until timestamptz,
  last_error text,
  given_up_at timestamptz,
  created_at timestamptz not null default now(),
  check ((sealed is null) = (given_up_at is not null))
);
create index mails_due on mails (due_at) where given_up_at is null;
-- No request reads it: the login of requests has no right to it, and no policy lets it through.
alter table mails enable row level security;
alter table mails force row level security;

alter table sessions drop constraint sessions_revoked_reason_check;
alter table sessions add constraint sessions_revoked_reason_check
  check (revoked_reason in ('logout', 'logout_all', 'reuse', 'password', 'ended', 'deleted'));

-- A deleted account stays as a number without an address, a password or a name: rows of others, and monitors that are marked as deleted,
-- refer to it.
alter table users add column deleted_at timestamptz;
alter table users alter column email drop not null;
alter table users alter column password_hash drop not null;
alter table users add check (deleted_at is null or (email is null and password_hash is null and display_name is null));

-- Whose a mailed link is, with the address of the account now and the one that the link was mailed to.
create function identity_account_token(
  of_hash bytea, for_purpose text, out user_id integer, out email text, out mailed_to text
)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select users.id, users.email, account_tokens.email
    from account_tokens join users on users.id = account_tokens.user_id
    where account_tokens.token_hash = of_hash and account_tokens.purpose = for_purpose
      and account_tokens.used_at is null and account_tokens.expires_at > now() and users.deleted_at is null;
  end;

-- What anybody may know of a user.
create function identity_public_profile(of_user integer, out user_id integer, out display_name text)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select users.id, users.display_name from users where users.id = of_user and users.deleted_at is null;
  end;

do $$
declare
  lookup regprocedure;
begin
  for lookup in
    select oid::regprocedure from pg_proc
    where pronamespace = 'public'::regnamespace and proname in ('identity_account_token', 'identity_public_profile')
  loop
    execute format('revoke execute on function %s from public, parallax_worker', lookup);
    execute format('grant execute on function %s to parallax_api', lookup);
  end loop;
end
$$;
grant usage, select on all sequences in schema public to parallax_api;
