-- Monitors of the protocol "group" by workspace: asked at every change of a monitor's status for those that contain it.
create index monitors_group_checks on monitors (workspace_id) where protocol = 'group' and deleted_at is null;
