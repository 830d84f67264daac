-- The history has every delivery: tests too, and outages that a maintenance holds before they are announced.
alter table notifications drop constraint notifications_kind_check;
alter table notifications add constraint notifications_kind_check check (kind in (
  'opened', 'updated', 'reminder', 'escalated', 'acknowledged', 'resolved', 'recovered', 'was_down', 'all_clear', 'information', 'test'));

-- 0: of an incident that is held and of which nothing was announced; its first message has the number 1.
alter table alert_occasions drop constraint alert_occasions_seq_check, drop constraint alert_occasions_problem_seq_check;
alter table alert_occasions add constraint alert_occasions_seq_check check (seq >= 0),
  add constraint alert_occasions_problem_seq_check check (problem_seq >= 0);
create index alert_occasions_held on alert_occasions (incident_id) where seq = 0 and ended_at is null;
