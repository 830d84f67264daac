-- Three roles beside the owner that runs migrations: requests (cannot bypass row-level security), and ingest and workers (can).
-- Roles belong to the whole cluster, so another database of the same cluster may have made them already.
do $$
begin
  if not exists (select from pg_roles where rolname = 'parallax_api') then
    create role parallax_api login nosuperuser nobypassrls;
  end if;
  if not exists (select from pg_roles where rolname = 'parallax_worker') then
    create role parallax_worker login nosuperuser bypassrls;
  end if;
exception when duplicate_object or unique_violation then null;
end
$$;

grant usage on schema public to parallax_api, parallax_worker;
alter default privileges in schema public grant select, insert, update, delete on tables to parallax_worker;
alter default privileges in schema public grant usage, select on sequences to parallax_worker;
alter default privileges in schema public revoke execute on functions from public;
alter default privileges in schema public grant execute on functions to parallax_worker;

-- What the tenant of the present transaction may see. Set by set_config(…, true), so it ends with the transaction.
create function current_workspaces() returns integer[]
  language sql stable parallel safe
  return string_to_array(nullif(current_setting('parallax.workspaces', true), ''), ',')::integer[];

create function current_user_id() returns integer
  language sql stable parallel safe
  return nullif(current_setting('parallax.user_id', true), '')::integer;

grant execute on function current_workspaces(), current_user_id() to parallax_api;
