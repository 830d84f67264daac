-- Work that waits for a row hears of it by a notification with the name of the table when the transaction commits, so that nobody has to ask again and
-- again. A transaction notifies of a table once, however many rows it writes.
create function signal_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('parallax_changes', tg_table_name);
  return null;
end $$;

create trigger signal_new after insert on outbox for each statement execute function signal_change();
create trigger signal_new after insert on events for each statement execute function signal_change();
create trigger signal_new after insert on mails for each statement execute function signal_change();
create trigger signal_new after insert on alert_occasions for each statement execute function signal_change();
create trigger signal_new after insert on notifications for each statement execute function signal_change();
create trigger signal_new after insert on deliveries for each statement execute function signal_change();
create trigger signal_new after insert on incidents for each statement execute function signal_change();
create trigger signal_new after insert on maintenance for each statement execute function signal_change();
create trigger signal_new after insert on maintenance_occurrences for each statement execute function signal_change();
create trigger signal_new after insert on diagnoses for each statement execute function signal_change();
create trigger signal_new after insert on status_page_notices for each statement execute function signal_change();
create trigger signal_new after insert on status_page_subscribers for each statement execute function signal_change();
create trigger signal_new after insert on monitors for each statement execute function signal_change();
create trigger signal_new after insert on quarantines for each statement execute function signal_change();
create trigger signal_new after insert on probe_sessions for each statement execute function signal_change();
create trigger signal_new after insert on probes for each statement execute function signal_change();
create trigger signal_new after insert on heartbeats for each statement execute function signal_change();
create trigger signal_new after insert on webhook_checks for each statement execute function signal_change();

-- Updates are looked at row by row: a statement that finds nothing to change fires its triggers, too, and who looks for work would wake itself.
create trigger signal_change after update of due_at on alert_occasions for each row
  when (new.due_at is not null and new.due_at is distinct from old.due_at) execute function signal_change();
create trigger signal_change after update of due_at on notifications for each row
  when (new.due_at is not null and new.due_at is distinct from old.due_at) execute function signal_change();
create trigger signal_change after update of next_attempt_at on deliveries for each row
  when (new.next_attempt_at is distinct from old.next_attempt_at) execute function signal_change();
create trigger signal_change after update of tell_at, held_at on incidents for each row
  when ((new.tell_at, new.held_at) is distinct from (old.tell_at, old.held_at)) execute function signal_change();
create trigger signal_change after update on maintenance for each row
  when (new is distinct from old) execute function signal_change();
create trigger signal_change after update of ends_at, ended_at on maintenance_occurrences for each row
  when ((new.ends_at, new.ended_at) is distinct from (old.ends_at, old.ended_at)) execute function signal_change();
create trigger signal_change after update of due_at, state on diagnoses for each row
  when ((new.due_at, new.state) is distinct from (old.due_at, old.state)) execute function signal_change();
create trigger signal_change after update of due_at, wanted_id on status_page_notices for each row
  when ((new.due_at, new.wanted_id) is distinct from (old.due_at, old.wanted_id)) execute function signal_change();
create trigger signal_change after update of challenge_due_at on status_page_subscribers for each row
  when (new.challenge_due_at is not null and new.challenge_due_at is distinct from old.challenge_due_at) execute function signal_change();
create trigger signal_change after update of changed_xid on monitors for each row
  when (new.changed_xid is distinct from old.changed_xid) execute function signal_change();
create trigger signal_change after update of changed_xid on quarantines for each row
  when (new.changed_xid is distinct from old.changed_xid) execute function signal_change();
create trigger signal_change after update of closed_at on probe_sessions for each row
  when (new.closed_at is distinct from old.closed_at) execute function signal_change();
create trigger signal_change after update of deleted_at on workspaces for each row
  when (new.deleted_at is distinct from old.deleted_at) execute function signal_change();
create trigger signal_change after update of key_check on installation for each row
  when (new.key_check is distinct from old.key_check) execute function signal_change();
-- Each sign of life moves a deadline, nearly always to later: who waits for the first one finds that out when it would have come.
create trigger signal_change after update on heartbeats for each row
  when (new.deadline_at is not null and (old.deadline_at is null or new.deadline_at < old.deadline_at))
  execute function signal_change();
create trigger signal_change after update on webhook_checks for each row
  when (new.deadline_at is not null and (old.deadline_at is null or new.deadline_at < old.deadline_at))
  execute function signal_change();
-- What is written every few seconds, such as when a probe was seen last, is no change that anybody waits for.
create trigger signal_change after update on probes for each row
  when ((old.region, old.capabilities, old.is_paused, old.offline_since, old.returned_at, old.revoked_at, old.workspace_id,
         old.assignment_revision, old.signing_public_key, old.last_seen_at is null)
    is distinct from (new.region, new.capabilities, new.is_paused, new.offline_since, new.returned_at, new.revoked_at, new.workspace_id,
         new.assignment_revision, new.signing_public_key, new.last_seen_at is null))
  execute function signal_change();
