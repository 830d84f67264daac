-- Whose a change is: in a flood of one workspace, those of others go before what is left of it. Null: nobody's, or not told in this form.
alter table outbox add column workspace_id integer generated always as (
  case when payload ->> 'workspace_id' ~ '^[1-9][0-9]{0,8}$' then (payload ->> 'workspace_id')::integer end) stored;
create index outbox_workspaces on outbox (workspace_id, id) where done_at is null and workspace_id is not null;
