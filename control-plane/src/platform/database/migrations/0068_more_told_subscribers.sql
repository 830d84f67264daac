-- Which words there are the contract says (`subscriberKinds`): a new channel is a line there and no migration.
alter table status_pages drop constraint status_pages_subscribe_check;
alter table status_pages add constraint status_pages_subscribe_check check (cardinality(subscribe) <= 40);
alter table status_page_subscribers drop constraint status_page_subscribers_kind_check;
alter table status_page_subscribers add constraint status_page_subscribers_kind_check check (kind ~ '^[a-z0-9-]{1,30}$');

-- Whether subscribers are told of a postmortem, and since when pages show it. Postmortems that are older than this migration are not told.
alter table incidents
  add column postmortem_notify boolean not null default true,
  add column postmortem_public_at timestamptz;

-- Whether subscribers are told of a maintenance.
alter table maintenance add column notify boolean not null default true;
