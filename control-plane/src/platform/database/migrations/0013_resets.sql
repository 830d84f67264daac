-- When what a reset made void was last found to be gone; null after a reset until then.
alter table monitors add column reset_emptied_at timestamptz;
create index monitors_reset on monitors (reset_at) where reset_at is not null;
-- A reset removes the incidents of its monitor in its own transaction.
grant delete on incidents to parallax_api;
create index incidents_monitor on incidents (monitor_id);
