-- The subquery is asked once for a statement. The function alone read the list of workspaces from its text for every row: a question about 10,000
-- monitors in ten statements did so 100,000 times.
alter policy monitors_of_tenant on monitors using (workspace_id = any ((select current_workspaces())::integer[]));

-- Nothing but the removal of a workspace asked it, which now goes by its webhooks. A claim had to enter 200 rows into it, all of them below few keys.
drop index webhook_deliveries_workspace;
