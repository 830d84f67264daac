-- A worker takes the oldest unfinished rows first. Without this index it sorts all of them for each round of a flood.
create index outbox_order on outbox (id) where done_at is null;
