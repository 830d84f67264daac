-- What a personal access token may be used for, as `resource:read` or `resource:write`; null: for all that its user may do.
alter table access_tokens add column scopes text[] check (cardinality(scopes) between 1 and 100);

-- The scopes of the personal access token with this hash. Read beside its caller, before the tenant is known.
create function identity_scopes_of_access_token(of_hash bytea) returns text[]
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select a.scopes from access_tokens a where a.token_hash = of_hash;
  end;
revoke execute on function identity_scopes_of_access_token(bytea) from public, parallax_worker;
grant execute on function identity_scopes_of_access_token(bytea) to parallax_api;
