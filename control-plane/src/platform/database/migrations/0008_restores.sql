-- The last restore of a backup into this database; all null or 0 when there was none.
alter table installation
  add column restored_at timestamptz,
  -- When the restored backup was made: what happened in between is not in this database, but probes may know of it.
  add column restored_backup_at timestamptz,
  -- Revisions of assignments below this one may belong to the time that was cut off: a probe that knows one gets a snapshot.
  add column restored_revision bigint not null default 0;
