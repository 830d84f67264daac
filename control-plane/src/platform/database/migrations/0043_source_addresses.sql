-- Addresses that checks and webhooks leave from, as the kernel of each machine routes them; listed at /probe/ips.
alter table probes add column source_addresses text[] not null default '{}';
alter table replicas add column source_addresses text[] not null default '{}';
