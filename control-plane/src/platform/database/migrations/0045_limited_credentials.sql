-- Whether the API key or personal access token with this hash names the workspaces that it is for. Read beside its caller, before the tenant
-- is known.
create function identity_credential_is_limited(of_hash bytea) returns boolean
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select exists (select from api_keys k where k.key_hash = of_hash and k.workspace_ids is not null)
      or exists (select from access_tokens a where a.token_hash = of_hash and a.workspace_ids is not null);
  end;
revoke execute on function identity_credential_is_limited(bytea) from public, parallax_worker;
grant execute on function identity_credential_is_limited(bytea) to parallax_api;
