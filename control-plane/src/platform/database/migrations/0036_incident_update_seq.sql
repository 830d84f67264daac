-- Number of the message by which an update is announced, among those of its incident: so the message finds the words that it is to carry, also
-- when more was announced before it was sent. Null: it was announced by nothing of its own.
alter table incident_updates add column told_seq integer;
