-- Links in messages of alerts, and the alert that every new account has.

-- What a link in a message opens: one occasion, as one target was told of it. The token is found by its SHA-256 and stands nowhere. It works until
-- seven days after the end of its occasion, and goes with it.
create table alert_links (
  token_hash bytea primary key check (length(token_hash) = 32),
  workspace_id integer not null references workspaces,
  occasion_id bigint not null references alert_occasions on delete cascade,
  target_key text not null,
  -- Of the reader.
  locale text not null check (locale in ('en', 'ru')),
  timezone text not null check (length(timezone) between 1 and 100),
  created_at timestamptz not null default clock_timestamp()
);
create index alert_links_occasion on alert_links (occasion_id);

alter table alert_links enable row level security;
alter table alert_links force row level security;
create policy alert_links_of_tenant on alert_links using (workspace_id = any (current_workspaces()));
create policy lookups_of_owner on alert_links to current_user using (true) with check (true);
create policy lookups_of_owner on alert_occasions to current_user using (true) with check (true);
create policy lookups_of_owner on alert_told to current_user using (true) with check (true);
create policy lookups_of_owner on alerts to current_user using (true) with check (true);
create policy lookups_of_owner on incidents to current_user using (true) with check (true);

-- What a link is about, by the hash of its token. Before the tenant is known.
create function identity_alert_link(of_token_hash bytea)
  returns table (
    workspace_id integer, occasion_id bigint, target_key text, locale text, timezone text, event text, title text, severity text,
    incident_id integer, is_lasting boolean, started_at timestamptz, ended_at timestamptz, acknowledged_at timestamptz,
    snoozed_until timestamptz
  )
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select l.workspace_id, l.occasion_id, l.target_key, l.locale, l.timezone, o.event, o.title, o.severity, o.incident_id, o.is_lasting,
      o.started_at, coalesce(o.ended_at, i.resolved_at), coalesce(o.acknowledged_at, i.acknowledged_at), t.snoozed_until
    from alert_links l join alert_occasions o on o.id = l.occasion_id join workspaces w on w.id = l.workspace_id and w.deleted_at is null
    left join alert_told t on t.occasion_id = l.occasion_id and t.target_key = l.target_key
    -- It is told to the occasion a moment later.
    left join incidents i on i.id = o.incident_id and i.workspace_id = l.workspace_id
    where l.token_hash = of_token_hash and coalesce(o.ended_at, now()) > now() - interval '7 days';
  end;
revoke execute on function identity_alert_link(bytea) from public, parallax_worker;
grant execute on function identity_alert_link(bytea) to parallax_api;

-- The alert of a new account: its own address is told of all that is in its first workspace. Once for each account; nothing without an address.
create function make_default_alert(of_user integer, in_workspace integer) returns void
  language sql volatile set search_path = public, pg_temp
  begin atomic
    insert into alerts (workspace_id, owner_id, name, is_default, covers_all, events, steps)
    select in_workspace, u.id, 'Default', true, true,
      array['monitor.down', 'heartbeat.missed', 'heartbeat.failed', 'webhook_check.missed', 'webhook_check.failed',
        'certificate.expiring', 'domain.expiring'],
      jsonb_build_array(jsonb_build_object('after_seconds', 0, 'targets', jsonb_build_array(jsonb_build_object(
        'channel', 'email', 'config_id', null, 'target', u.email, 'locale', u.locale, 'timezone', u.timezone))))
    from users u where u.id = of_user and u.email is not null
    on conflict do nothing;
  end;
revoke execute on function make_default_alert(integer, integer) from public, parallax_worker;

create or replace function make_account(
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
  perform make_default_alert(made_user, made_workspace);
  insert into audit_log (workspace_id, user_id, actor, action, subject_type, subject_id, detail, remote_address, request_id)
  values (made_workspace, made_user, 'user', 'user.registered', 'user', made_user::text,
          jsonb_build_object('is_administrator', as_administrator) || detail, from_address, in_request);
  return made_user;
end
$$;

-- Those who were there before alerts were get theirs in the workspace that is their default, if it is their own.
select make_default_alert(m.user_id, m.workspace_id)
from workspace_members m join users u on u.id = m.user_id join workspaces w on w.id = m.workspace_id
where m.is_default and m.role = 'owner' and u.deleted_at is null and w.deleted_at is null;

-- A target as it is when its owner's address, language or zone has changed: mail to the own address follows all three.
create function followed_target(target jsonb, old_email text, new_email text, old_locale text, new_locale text, old_zone text, new_zone text)
  returns jsonb
  language sql immutable set search_path = public, pg_temp
  begin atomic
    select case when target ->> 'channel' = 'email' and target ->> 'config_id' is null and lower(target ->> 'target') = lower(old_email)
      then target || jsonb_build_object(
        'target', new_email,
        'locale', case when target ->> 'locale' = old_locale then new_locale else target ->> 'locale' end,
        'timezone', case when target ->> 'timezone' = old_zone then new_zone else target ->> 'timezone' end)
      else target end;
  end;
revoke execute on function followed_target(jsonb, text, text, text, text, text, text) from public, parallax_worker;

create function follow_address() returns trigger
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  update alerts a set steps = changed.steps, failover = changed.failover, version = a.version + 1, updated_at = clock_timestamp()
  from (
    select b.id,
      (select jsonb_agg(step.value || jsonb_build_object('targets', coalesce((
          select jsonb_agg(
            followed_target(t.value, old.email, new.email, old.locale, new.locale, old.timezone, new.timezone) order by t.ordinality)
          from jsonb_array_elements(step.value -> 'targets') with ordinality t), '[]'::jsonb)) order by step.ordinality)
        from jsonb_array_elements(b.steps) with ordinality step) as steps,
      followed_target(b.failover, old.email, new.email, old.locale, new.locale, old.timezone, new.timezone) as failover
    from alerts b where b.owner_id = new.id) changed
  where a.id = changed.id and (a.steps, a.failover) is distinct from (changed.steps, changed.failover);
  return null;
end
$$;
revoke execute on function follow_address() from public, parallax_worker;
create trigger alerts_follow_address after update of email, locale, timezone on users
  for each row when (
    old.email is not null and new.email is not null
    and (old.email, old.locale, old.timezone) is distinct from (new.email, new.locale, new.timezone))
  execute function follow_address();

