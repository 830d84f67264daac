-- Language and zone of a target are those of its alert's owner at the time of sending, unless the target has its own: null until then.

create or replace function make_default_alert(of_user integer, in_workspace integer) returns void
  language sql volatile set search_path = public, pg_temp
  begin atomic
    insert into alerts (workspace_id, owner_id, name, is_default, covers_all, events, steps)
    select in_workspace, u.id, 'Default', true, true,
      array['monitor.down', 'heartbeat.missed', 'heartbeat.failed', 'webhook_check.missed', 'webhook_check.failed',
        'certificate.expiring', 'domain.expiring'],
      jsonb_build_array(jsonb_build_object('after_seconds', 0, 'targets', jsonb_build_array(jsonb_build_object(
        'channel', 'email', 'config_id', null, 'target', u.email, 'locale', null, 'timezone', null))))
    from users u where u.id = of_user and u.email is not null
    on conflict do nothing;
  end;

drop trigger alerts_follow_address on users;
drop function follow_address();
drop function followed_target(jsonb, text, text, text, text, text, text);

-- A target as it is when its owner's address has changed: mail to the own address follows it.
create function followed_target(target jsonb, old_email text, new_email text) returns jsonb
  language sql immutable set search_path = public, pg_temp
  begin atomic
    select case when target ->> 'channel' = 'email' and target ->> 'config_id' is null and lower(target ->> 'target') = lower(old_email)
      then target || jsonb_build_object('target', new_email) else target end;
  end;
revoke execute on function followed_target(jsonb, text, text) from public, parallax_worker;

create function follow_address() returns trigger
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  update alerts a set steps = changed.steps, failover = changed.failover, version = a.version + 1, updated_at = clock_timestamp()
  from (
    select b.id,
      (select jsonb_agg(step.value || jsonb_build_object('targets', coalesce((
          select jsonb_agg(followed_target(t.value, old.email, new.email) order by t.ordinality)
          from jsonb_array_elements(step.value -> 'targets') with ordinality t), '[]'::jsonb)) order by step.ordinality)
        from jsonb_array_elements(b.steps) with ordinality step) as steps,
      followed_target(b.failover, old.email, new.email) as failover
    from alerts b where b.owner_id = new.id) changed
  where a.id = changed.id and (a.steps, a.failover) is distinct from (changed.steps, changed.failover);
  return null;
end
$$;
revoke execute on function follow_address() from public, parallax_worker;
create trigger alerts_follow_address after update of email on users
  for each row when (old.email is not null and new.email is not null and old.email is distinct from new.email)
  execute function follow_address();

-- What a target was given without being asked cannot be told from what it was given to keep: what equals its owner's follows from now on.
create function pg_temp.following(target jsonb, of_locale text, of_zone text) returns jsonb language sql immutable
  return target || jsonb_build_object(
    'locale', nullif(target ->> 'locale', of_locale), 'timezone', nullif(target ->> 'timezone', of_zone));
update alerts a set
  steps = (
    select jsonb_agg(step.value || jsonb_build_object('targets', (
        select jsonb_agg(pg_temp.following(t.value, u.locale, u.timezone) order by t.ordinality)
        from jsonb_array_elements(step.value -> 'targets') with ordinality t)) order by step.ordinality)
    from jsonb_array_elements(a.steps) with ordinality step),
  failover = pg_temp.following(a.failover, u.locale, u.timezone)
from users u where u.id = a.owner_id;
