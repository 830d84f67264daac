-- Wrong second factors, counted by what came with them: the first factor's token, and the account with the network of the client.
create table second_factor_failures (
  -- SHA-256 of what is counted by.
  key bytea primary key,
  user_id integer not null references users on delete cascade,
  failures integer not null,
  last_failed_at timestamptz not null
);
create index second_factor_failures_user on second_factor_failures (user_id);
alter table second_factor_failures enable row level security;
alter table second_factor_failures force row level security;
create policy own_second_factor_failures on second_factor_failures using (user_id = current_user_id());
grant select, insert, update, delete on second_factor_failures to parallax_api;

-- Whoever has shown the former password has shown nothing: a step that waits for the second factor ends with it. The row that is deleted
-- here is the one that the sign-in takes, so the two come one after the other.
create function end_password_challenges() returns trigger
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  delete from sign_in_challenges where user_id = new.id and purpose = 'second_factor' and way = 'password';
  return null;
end
$$;
revoke execute on function end_password_challenges() from public;
create trigger users_end_password_challenges after update of password_hash on users
  for each row when (old.password_hash is distinct from new.password_hash) execute function end_password_challenges();
