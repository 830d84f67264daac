-- One row: what is fixed when the product is installed.
create table installation (
  only_row boolean primary key default true check (only_row),
  shards integer not null check (shards between 1 and 64),
  -- Proves that a secret opens with the present key-encryption key before anything else is tried.
  key_check bytea not null,
  created_at timestamptz not null default now()
);

-- Keys of the installation (authority, broker, tokens), sealed with AES-256-GCM under the key-encryption key.
create table sealed_keys (
  name text primary key,
  sealed bytea not null,
  -- What may be known of it: a certificate, a public key.
  public_part text,
  created_at timestamptz not null default now()
);

-- State changes for others to act on, written in the transaction of the change. Rows of one key are handed out in order.
create table outbox (
  id bigint generated always as identity primary key,
  -- "monitor:17", "incident:4": the oldest unfinished row of a key goes first.
  key text not null,
  kind text not null,
  payload jsonb not null,
  created_at timestamptz not null default now(),
  available_at timestamptz not null default now(),
  attempts integer not null default 0,
  lease_until timestamptz,
  done_at timestamptz,
  last_error text
);
create index outbox_unfinished on outbox (key, id) where done_at is null;
create index outbox_done on outbox (done_at) where done_at is not null;

-- Counters of rate limits; lost in a crash, which only forgives.
create unlogged table rate_limits (
  key text not null,
  window_started_at timestamptz not null,
  used integer not null,
  primary key (key)
);

grant select on installation to parallax_api;
grant select, insert, update, delete on rate_limits to parallax_api;
grant insert on outbox to parallax_api;
