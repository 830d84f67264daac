-- What receivers tell repetitions of a message by. Its number alone is that of another message of another installation, and of this one after a restore.
-- Null: a message of before, which keeps the name under which it was sent first. The default comes by itself, so that no row is written anew.
alter table deliveries add column message_id uuid;
alter table deliveries alter column message_id set default gen_random_uuid();

-- What services tell one alarm by that they keep open: numbers alone are those of another installation's alarms too, which it would close.
alter table alert_occasions add column uid uuid not null default gen_random_uuid();
