-- What is kept of a monitor or a probe names no tenant. Requests reached it through the monitor or probe, which they read under its policy first;
-- now a query that forgets to is held back as well. Tables that stay open to all requests are listed with their reasons in
-- control-plane/src/identity/access/row-security.test.ts.
alter table pauses enable row level security;
alter table pauses force row level security;
create policy pauses_of_tenant on pauses
  using (exists (select from monitors m where m.id = monitor_id and m.workspace_id = any (current_workspaces())));
alter table monitor_history enable row level security;
alter table monitor_history force row level security;
create policy monitor_history_of_tenant on monitor_history
  using (exists (select from monitors m where m.id = monitor_id and m.workspace_id = any (current_workspaces())));
alter table sla_ledger enable row level security;
alter table sla_ledger force row level security;
create policy sla_ledger_of_tenant on sla_ledger
  using (exists (select from monitors m where m.id = monitor_id and m.workspace_id = any (current_workspaces())));
alter table stale_hours enable row level security;
alter table stale_hours force row level security;
create policy stale_hours_of_tenant on stale_hours
  using (exists (select from monitors m where m.id = monitor_id and m.workspace_id = any (current_workspaces())));
alter table status_ranges enable row level security;
alter table status_ranges force row level security;
create policy status_ranges_of_tenant on status_ranges
  using (exists (select from monitors m where m.id = monitor_id and m.workspace_id = any (current_workspaces())));
alter table probe_ranges enable row level security;
alter table probe_ranges force row level security;
create policy probe_ranges_of_tenant on probe_ranges
  using (exists (select from monitors m where m.id = monitor_id and m.workspace_id = any (current_workspaces())));
alter table result_evidence enable row level security;
alter table result_evidence force row level security;
create policy result_evidence_of_tenant on result_evidence
  using (exists (select from monitors m where m.id = monitor_id and m.workspace_id = any (current_workspaces())));

-- Probes of the installation are of no workspace, and everybody may see them.
alter table probe_sessions enable row level security;
alter table probe_sessions force row level security;
create policy probe_sessions_visible on probe_sessions
  using (exists (select from probes p where p.id = probe_id and (p.workspace_id is null or p.workspace_id = any (current_workspaces()))));
alter table probe_certificates enable row level security;
alter table probe_certificates force row level security;
create policy probe_certificates_visible on probe_certificates
  using (exists (select from probes p where p.id = probe_id and (p.workspace_id is null or p.workspace_id = any (current_workspaces()))));

-- No request reads where probes are with their results, or what they lost.
revoke select on cursors, lost_results from parallax_api;
