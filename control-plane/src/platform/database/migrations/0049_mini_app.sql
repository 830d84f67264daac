-- Data of a mini app counts for an hour, and as often as it is sent, but for one account only: that of its first use.
-- No reference: the account may be gone while its data is still young, and then the data opens nothing.
alter table used_proofs add column user_id integer;

-- The account that data was used for; null: none yet.
create function identity_proof_owner(of_digest bytea) returns integer
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select p.user_id from used_proofs p where p.digest = of_digest;
  end;

-- Keeps which account data is used for. False: it was another one.
create function identity_keep_proof(of_digest bytea, for_user integer, life interval) returns boolean
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  insert into used_proofs (digest, expires_at, user_id) values (of_digest, now() + life, for_user) on conflict do nothing;
  return exists (select from used_proofs p where p.digest = of_digest and p.user_id = for_user);
end
$$;

-- `identity_of_outside` for a person whose name and language their messenger tells: a new account has both at once.
create function identity_of_person(
  of_way text, of_issuer text, of_subject text, of_email text, email_is_verified boolean,
  new_plan text, new_ping_key text, may_create boolean, by_invite bytea, most_members integer, from_address text, in_request text,
  new_name text, new_locale text,
  out outcome text, out user_id integer, out refusal text
)
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  select o.outcome, o.user_id, o.refusal into outcome, identity_of_person.user_id, refusal
  from identity_of_outside(of_way, of_issuer, of_subject, of_email, email_is_verified, new_plan, new_ping_key, may_create,
                           by_invite, most_members, from_address, in_request) o;
  if outcome = 'created' then
    update users set display_name = new_name, locale = coalesce(new_locale, locale) where id = identity_of_person.user_id;
  end if;
end
$$;

do $$
declare
  lookup regprocedure;
begin
  for lookup in
    select oid::regprocedure from pg_proc
    where pronamespace = 'public'::regnamespace
      and proname in ('identity_proof_owner', 'identity_keep_proof', 'identity_of_person')
  loop
    execute format('revoke execute on function %s from public, parallax_worker', lookup);
    execute format('grant execute on function %s to parallax_api', lookup);
  end loop;
end
$$;
