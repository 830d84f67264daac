-- Browsers that users have subscribed to be told by push messages (RFC 8030).
create table push_subscriptions (
  id integer generated always as identity primary key,
  user_id integer not null references users on delete cascade,
  name text not null check (length(name) between 1 and 200),
  user_agent text check (length(user_agent) <= 500),
  -- Host of the push service.
  service text not null,
  -- SHA-256 of the endpoint: a browser belongs to one account at a time.
  endpoint_hash bytea not null unique check (length(endpoint_hash) = 32),
  -- SHA-256 of both keys, by which another account proves that it is the same browser.
  keys_hash bytea not null check (length(keys_hash) = 32),
  -- Endpoint and keys: whoever has them may send.
  sealed bytea not null,
  expires_at timestamptz,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  last_delivered_at timestamptz
);
create index push_subscriptions_user on push_subscriptions (user_id, seen_at desc, id desc);

alter table push_subscriptions enable row level security;
alter table push_subscriptions force row level security;
create policy own_push_subscriptions on push_subscriptions using (user_id = current_user_id());
create policy lookups_of_owner on push_subscriptions to current_user using (true) with check (true);
grant select, insert, update, delete on push_subscriptions to parallax_api;
grant usage, select on sequence push_subscriptions_id_seq to parallax_api;

-- Takes a browser from the account that has it, for another one that holds the same keys. False: an account has the endpoint with other keys.
create function identity_release_push_subscription(of_endpoint bytea, with_keys bytea) returns boolean
  language plpgsql volatile security definer set search_path = public, pg_temp
as $$
begin
  delete from push_subscriptions s where s.endpoint_hash = of_endpoint and s.keys_hash = with_keys;
  return not exists (select from push_subscriptions s where s.endpoint_hash = of_endpoint);
end
$$;
revoke execute on function identity_release_push_subscription(bytea, bytea) from public, parallax_worker;
grant execute on function identity_release_push_subscription(bytea, bytea) to parallax_api;
