-- When the end of a certificate or a domain is next to be looked at: at once after it was seen, or after what decides about its notices has
-- changed; then when the next threshold is crossed. So each look reads what is due, however many ends are known.

alter table monitor_expiries add column look_at timestamptz not null default '-infinity';
create index monitor_expiries_look on monitor_expiries (look_at) where look_at < 'infinity';

-- Whoever switches or changes a monitor waits here for a look that is under way, so that nothing is told of one that was paused before. In the
-- order in which the ingest writes them.
create function look_at_expiries(of_monitor integer) returns void
  language sql volatile set search_path = public, pg_temp as $$
    update monitor_expiries e set look_at = '-infinity'
    from (
      select monitor_id, kind, probe_id from monitor_expiries where monitor_id = of_monitor order by probe_id, kind for update
    ) known
    where (e.monitor_id, e.kind, e.probe_id) = (known.monitor_id, known.kind, known.probe_id);
  $$;

create function look_at_expiries_of_monitor() returns trigger
  language plpgsql set search_path = public, pg_temp as $$
begin
  perform look_at_expiries(new.id);
  return null;
end
$$;

create function look_at_expiries_of_pause() returns trigger
  language plpgsql set search_path = public, pg_temp as $$
begin
  perform look_at_expiries(new.monitor_id);
  return null;
end
$$;

create trigger monitors_look_at_expiries
  after update of is_active, deleted_at, probe_revision, certificate_thresholds_days, domain_thresholds_days on monitors
  for each row when (
    (old.is_active, old.deleted_at, old.probe_revision, old.certificate_thresholds_days, old.domain_thresholds_days)
      is distinct from
    (new.is_active, new.deleted_at, new.probe_revision, new.certificate_thresholds_days, new.domain_thresholds_days))
  execute function look_at_expiries_of_monitor();

create trigger pauses_look_at_expiries after insert or update of ended_at on pauses
  for each row execute function look_at_expiries_of_pause();

-- Requests switch monitors; the policy keeps them to those of their tenant.
grant update (look_at) on monitor_expiries to parallax_api;
grant execute on function look_at_expiries(integer), look_at_expiries_of_monitor(), look_at_expiries_of_pause() to parallax_api;
