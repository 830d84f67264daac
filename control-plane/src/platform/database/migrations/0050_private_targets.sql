-- Addresses that are not public and that an administrator lets the checks of one workspace reach, as CIDRs.
alter table workspaces add column private_targets text[] not null default '{}'
  check (cardinality(private_targets) <= 50);

-- A workspace that was handed over is not what its new owner made: the rights of an administrator do not come to it, else whoever hands
-- a workspace to an administrator and stays its editor would have them.
alter table workspaces add column was_handed_over boolean not null default false;

-- Requests may write neither of the two columns.
create function workspace_handed_over() returns trigger
  language plpgsql set search_path = public, pg_temp
as $$
begin
  new.was_handed_over := true;
  return new;
end
$$;
create trigger workspace_handed_over before update of owner_id on workspaces for each row
  when (old.owner_id <> new.owner_id)
  execute function workspace_handed_over();

-- Probes learn what the monitors of workspaces may reach now: each open seat gets a new revision, as if its monitor had changed. With the rights
-- of whoever makes the change, who sees these workspaces. Probes are locked in order and read after that, as by all writers of seats.
create function touch_seats_of_workspaces(of_workspaces integer[]) returns void
  language plpgsql set search_path = public, pg_temp
as $$
begin
  perform from probes where id in (
    select seat.probe_id from assignments seat join monitors m on m.id = seat.monitor_id
    where m.workspace_id = any (of_workspaces) and seat.ended_at is null)
  order by id for no key update;
  with numbered as (
    select seat.id, seat.probe_id, row_number() over (partition by seat.probe_id order by seat.id) as position
    from assignments seat join monitors m on m.id = seat.monitor_id
    where m.workspace_id = any (of_workspaces) and seat.ended_at is null
  ), counted as (
    select probe_id, count(*) as seats from numbered group by probe_id
  ), advanced as (
    update probes set assignment_revision = assignment_revision + counted.seats
    from counted where probes.id = counted.probe_id
    returning probes.id, probes.assignment_revision - counted.seats as before
  )
  update assignments set revision = advanced.before + numbered.position
  from numbered join advanced on advanced.id = numbered.probe_id
  where assignments.id = numbered.id and ended_at is null;
end
$$;

create function workspace_reach_changed() returns trigger
  language plpgsql set search_path = public, pg_temp
as $$
begin
  perform touch_seats_of_workspaces(array[new.id]);
  return null;
end
$$;
create trigger workspace_reach_changed after update of private_targets, owner_id on workspaces for each row
  when (old.private_targets is distinct from new.private_targets or old.owner_id <> new.owner_id)
  execute function workspace_reach_changed();

create function administrator_changed() returns trigger
  language plpgsql set search_path = public, pg_temp
as $$
begin
  perform touch_seats_of_workspaces(array(select id from workspaces where owner_id = new.id));
  return null;
end
$$;
create trigger administrator_changed after update of is_administrator on users for each row
  when (old.is_administrator <> new.is_administrator)
  execute function administrator_changed();

-- It does what each login may do by itself.
grant execute on function touch_seats_of_workspaces to parallax_api, parallax_worker;
