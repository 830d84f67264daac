-- Deliveries of one moment have one entry in these indexes, which stays until all of them are gone. So each claim read again whatever the
-- claims before it had taken from the same moment. With an entry for each delivery, the first claim that finds one dead marks it.
alter index webhook_deliveries_queue set (deduplicate_items = off);
alter index webhook_deliveries_due set (deduplicate_items = off);
alter index webhook_deliveries_leased set (deduplicate_items = off);
reindex index webhook_deliveries_queue;
reindex index webhook_deliveries_due;
reindex index webhook_deliveries_leased;
