-- By which ways a page can be subscribed to; empty: it cannot.
alter table status_pages add column subscribe text[] not null default '{email}'
  check (subscribe <@ '{email,webhook,team-chat,chat,teams}' and cardinality(subscribe) <= 5);

-- Who is told what a page tells. Nobody is before they have confirmed it.
create table status_page_subscribers (
  id integer generated always as identity primary key,
  workspace_id integer not null,
  page_id integer not null,
  kind text not null check (kind in ('email', 'webhook', 'team-chat', 'chat', 'teams')),
  target_sealed bytea not null,
  -- HMAC of kind and target by a key of the installation: one subscription each, and no list of addresses in a stolen copy.
  target_hash bytea not null,
  -- What signs messages to a webhook.
  secret_sealed bytea,
  -- Public names of the components that are told of; empty: of all.
  component_ids text[] not null default '{}' check (cardinality(component_ids) <= 200),
  locale text not null check (locale in ('en', 'ru')),
  state text not null default 'pending' check (state in ('pending', 'active', 'unsubscribed', 'failed')),
  -- The token of the link in messages: found by its SHA-256, and sealed, since each message has it.
  token_hash bytea not null unique,
  token_sealed bytea not null,
  -- When a confirmation was asked for last: no mailbox is filled by others.
  asked_at timestamptz not null default clock_timestamp(),
  -- When a webhook is asked to echo; null: no more.
  challenge_due_at timestamptz,
  challenge_attempts smallint not null default 0,
  -- Messages that were given up one after another.
  failures smallint not null default 0,
  -- Since when it is told of what happens.
  active_at timestamptz,
  state_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  unique (page_id, target_hash),
  check ((state = 'active') <= (active_at is not null)),
  foreign key (workspace_id, page_id) references status_pages (workspace_id, id) on update cascade on delete cascade
);
create index status_page_subscribers_page on status_page_subscribers (page_id, state);
create index status_page_subscribers_over on status_page_subscribers (state_at) where state in ('pending', 'unsubscribed', 'failed');
create index status_page_subscribers_challenge on status_page_subscribers (challenge_due_at) where challenge_due_at is not null;

-- What pages have told their subscribers: each once, as it was public then.
create table status_page_news (
  id bigint generated always as identity primary key,
  workspace_id integer not null,
  page_id integer not null,
  -- Public name of the incident or the maintenance.
  subject text not null check (length(subject) between 1 and 100),
  -- Which news of the subject it is.
  key text not null check (length(key) between 1 and 100),
  component_ids text[] not null,
  -- In no language: titles and texts as people wrote them, words of statuses, times.
  facts jsonb not null,
  -- Subscribers who came later are not told.
  known_at timestamptz not null,
  created_at timestamptz not null default clock_timestamp(),
  unique (page_id, subject, key),
  foreign key (workspace_id, page_id) references status_pages (workspace_id, id) on update cascade on delete cascade
);
create index status_page_news_created on status_page_news (created_at);

-- How far a subscriber was told of a subject: of its news after first_id up to told_id; those up to wanted_id wait.
create table status_page_notices (
  id bigint generated always as identity primary key,
  workspace_id integer not null,
  page_id integer not null,
  -- By its number alone: the check of a wider key may look through all subscribers of the page for each of them, by a plan that was made when they were few.
  subscriber_id integer not null references status_page_subscribers on delete cascade,
  subject text not null,
  told_id bigint not null,
  wanted_id bigint not null,
  -- What the message under way tells up to: another try is the same message.
  claimed_id bigint,
  due_at timestamptz not null default clock_timestamp(),
  leased_until timestamptz,
  attempts smallint not null default 0,
  -- When it was tried last, and when it was told last.
  tried_at timestamptz,
  told_at timestamptz,
  unique (subscriber_id, subject)
);
create index status_page_notices_due on status_page_notices (due_at, id) where told_id < wanted_id;
create index status_page_notices_tried on status_page_notices (tried_at) where tried_at is not null;
create index status_page_notices_page on status_page_notices (page_id, subject) where told_id < wanted_id;

alter table status_page_subscribers enable row level security;
alter table status_page_subscribers force row level security;
create policy status_page_subscribers_of_tenant on status_page_subscribers using (workspace_id = any (current_workspaces()));
create policy lookups_of_owner on status_page_subscribers to current_user using (true);
alter table status_page_news enable row level security;
alter table status_page_news force row level security;
create policy status_page_news_of_tenant on status_page_news using (workspace_id = any (current_workspaces()));
alter table status_page_notices enable row level security;
alter table status_page_notices force row level security;
create policy status_page_notices_of_tenant on status_page_notices using (workspace_id = any (current_workspaces()));

grant select, insert, update, delete on status_page_subscribers to parallax_api;
grant usage, select on sequence status_page_subscribers_id_seq to parallax_api;
grant select, delete on status_page_notices to parallax_api;

-- Whom the link of a message is for, before the tenant is known, whether the page is published or not; no row where there is none.
create function identity_page_subscriber(of_hash bytea)
  returns table (id integer, workspace_id integer, page_id integer)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select s.id, s.workspace_id, s.page_id
    from status_page_subscribers s
      join status_pages p on p.id = s.page_id and p.deleted_at is null
      join workspaces w on w.id = s.workspace_id and w.deleted_at is null
    where s.token_hash = of_hash;
  end;
revoke execute on function identity_page_subscriber(bytea) from public, parallax_worker;
grant execute on function identity_page_subscriber(bytea) to parallax_api;
