-- What users tell the administrators of the installation.
create table feedback (
  id integer generated always as identity primary key,
  -- The address is that of the account, so that both are gone once the account is deleted.
  user_id integer references users on delete set null,
  kind text not null check (kind in ('bug', 'idea', 'question', 'praise')),
  message text not null check (length(message) between 1 and 5000),
  page text check (length(page) between 1 and 500),
  may_contact boolean not null,
  version text not null,
  user_agent text check (length(user_agent) <= 500),
  status text not null default 'new' check (status in ('new', 'seen', 'planned', 'done', 'declined')),
  reply text check (length(reply) between 1 and 5000),
  replied_at timestamptz,
  -- When the administrators were mailed about it; null: not yet.
  mailed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((reply is null) = (replied_at is null))
);
create index feedback_user on feedback (user_id, created_at);
create index feedback_created on feedback (created_at);
create index feedback_to_mail on feedback (id) where mailed_at is null;

-- One row: when the administrators were last mailed. It outlives the items, which may be deleted within the hour.
create table feedback_mailing (
  is_only boolean primary key default true check (is_only),
  mailed_at timestamptz not null
);
insert into feedback_mailing (mailed_at) values ('1970-01-01T00:00:00Z');

-- Whether the user of the request administers the installation. A request cannot read the rows of other users, and this tells it nothing of them.
create function identity_is_administrator() returns boolean
  language sql stable security definer set search_path = public, pg_temp
as $$
  select exists (select from users where id = current_user_id() and is_administrator and deleted_at is null)
$$;

alter table feedback enable row level security;
alter table feedback force row level security;
create policy own_feedback on feedback using (user_id = current_user_id() or (select identity_is_administrator()));
create policy lookups_of_owner on feedback to current_user using (true) with check (true);

grant select, insert, delete on feedback to parallax_api;
grant update (status, reply, replied_at, updated_at) on feedback to parallax_api;
grant usage, select on sequence feedback_id_seq to parallax_api;

-- Addresses of those who may be contacted about their feedback, for administrators.
create function identity_feedback_addresses(of_items integer[]) returns table (id integer, email text)
  language sql stable security definer set search_path = public, pg_temp
as $$
  select f.id, u.email from feedback f join users u on u.id = f.user_id
  where f.id = any (of_items) and f.may_contact and u.email is not null and identity_is_administrator()
$$;

revoke execute on function identity_is_administrator() from public, parallax_worker;
grant execute on function identity_is_administrator() to parallax_api;
revoke execute on function identity_feedback_addresses(integer[]) from public, parallax_worker;
grant execute on function identity_feedback_addresses(integer[]) to parallax_api;

-- The dashboard asks for what is open or ended lately, and for the messages of a time.
create index incidents_ended on incidents (workspace_id, resolved_at) where deleted_at is null;
create index notifications_time on notifications (workspace_id, created_at);
