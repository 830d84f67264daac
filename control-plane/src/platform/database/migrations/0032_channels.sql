-- Configurations of alert channels: one for each type and user.
create table channel_configs (
  id integer generated always as identity primary key,
  user_id integer not null references users on delete cascade,
  channel text not null check (channel ~ '^[a-z][a-z0-9-]{0,49}$'),
  name text not null check (length(name) between 1 and 200),
  -- All settings as JSON, credentials among them.
  sealed_settings bytea not null,
  -- Counts changes of the settings and every switch by hand: what an earlier state brought about changes nothing of a later one.
  settings_version integer not null default 1,
  is_active boolean not null default true,
  -- Why it was switched off by itself; null when its owner did it.
  disabled_reason text check (disabled_reason in ('refused_credentials', 'failures_in_row')),
  disabled_at timestamptz,
  -- Messages that failed for good since the last one that arrived.
  failures_in_row integer not null default 0 check (failures_in_row >= 0),
  last_error_code text check (length(last_error_code) <= 50),
  last_error text check (length(last_error) <= 600),
  last_error_at timestamptz,
  -- Noted at most once a minute.
  last_success_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (user_id, channel),
  check (is_active = (disabled_at is null)),
  check (disabled_reason is null or not is_active)
);

-- What is known of one address, chat or number that messages go to. Most have no row: those of which nothing is known are good.
create table channel_targets (
  id bigint generated always as identity primary key,
  user_id integer not null references users on delete cascade,
  channel text not null check (channel ~ '^[a-z][a-z0-9-]{0,49}$'),
  -- In the form in which it is compared.
  target text not null check (length(target) between 1 and 2000),
  -- Nothing arrives there any more.
  disabled_at timestamptz,
  reason text check (length(reason) <= 600),
  -- Mail: whoever reads it has agreed, and may change their mind.
  confirmed_at timestamptz,
  unsubscribed_at timestamptz,
  confirm_hash bytea unique check (length(confirm_hash) = 32),
  confirm_until timestamptz,
  unsubscribe_hash bytea unique check (length(unsubscribe_hash) = 32),
  -- To be written into every mail.
  unsubscribe_sealed bytea,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (user_id, channel, target),
  check ((confirm_hash is null) = (confirm_until is null)),
  check ((unsubscribe_hash is null) = (unsubscribe_sealed is null))
);

alter table channel_configs enable row level security;
alter table channel_configs force row level security;
create policy own_channel_configs on channel_configs using (user_id = current_user_id());
alter table channel_targets enable row level security;
alter table channel_targets force row level security;
create policy own_channel_targets on channel_targets using (user_id = current_user_id());
create policy lookups_of_owner on channel_targets to current_user using (true) with check (true);
grant select, insert, update, delete on channel_configs, channel_targets to parallax_api;
grant usage, select on sequence channel_configs_id_seq, channel_targets_id_seq to parallax_api;

-- What a mailed link is for; with `act` it is done. Doing it twice is doing it once.
create function identity_mail_target(of_hash bytea, act boolean, out purpose text, out target text, out locale text)
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  found_row channel_targets%rowtype;
begin
  select * into found_row from channel_targets t
  where (t.confirm_hash = of_hash and t.confirm_until > now()) or t.unsubscribe_hash = of_hash;
  if not found then
    return;
  end if;
  select users.locale into identity_mail_target.locale from users where users.id = found_row.user_id and users.deleted_at is null;
  if not found then
    return;
  end if;
  identity_mail_target.target := found_row.target;
  identity_mail_target.purpose := case when found_row.unsubscribe_hash = of_hash then 'unsubscribe' else 'confirm' end;
  if act and identity_mail_target.purpose = 'confirm' then
    update channel_targets set confirmed_at = coalesce(confirmed_at, now()), unsubscribed_at = null, updated_at = now()
    where id = found_row.id and (confirmed_at is null or unsubscribed_at is not null);
  elsif act then
    update channel_targets set unsubscribed_at = now(), updated_at = now() where id = found_row.id and unsubscribed_at is null;
  end if;
end
$$;
revoke execute on function identity_mail_target(bytea, boolean) from public, parallax_worker;
grant execute on function identity_mail_target(bytea, boolean) to parallax_api;
