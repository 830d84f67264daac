-- What status pages read of a day of a monitor. Without it a page takes apart three summaries for each of its 90 days.
alter table result_days
  -- The median of the response times from all probes together in microseconds, in the row of the first probe; −1: no check of the day took time.
  -- Null in the other rows, and where the day was merged before this column was there.
  add column median_us integer;
create index result_days_median on result_days (monitor_id, day) include (median_us) where median_us is not null;

-- Incidents that a page may tell although no member of theirs is one of its components.
create index incidents_manual on incidents (workspace_id, started_at) where is_manual and deleted_at is null;
create index incident_updates_public on incident_updates (workspace_id, incident_id) where is_public;
