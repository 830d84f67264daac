-- When a lost probe was heard of again, the last time; null when it was never lost. Its supplements stay until it has voted again.
alter table probes add column returned_at timestamptz;

-- Of a supplement: the probe whose seat at the monitor it fills. One for a seat.
alter table assignments add column stands_in_for integer references probes;
alter table assignments add constraint assignments_stands_in_for check (stands_in_for is null or supplement);
create unique index assignments_supplement on assignments (monitor_id, stands_in_for) where ended_at is null and supplement;
-- The open rows of a probe, in the order of the monitors: what it loses when it is lost, and how much it has to do.
create index assignments_open_of_probe on assignments (probe_id, monitor_id) where ended_at is null;

-- When any control plane last looked for lost probes, and until when none counts as lost. A gap means that all control planes, or the
-- database, stood still: heartbeats were missing because nobody could write them.
create table lost_watch (
  is_one boolean primary key default true check (is_one),
  looked_at timestamptz not null,
  quiet_until timestamptz not null
);
