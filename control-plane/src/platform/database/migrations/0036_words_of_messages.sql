-- What messages and their pages say.

-- Number of the message by which an update is announced, among those of its incident: so the message finds the words that it is to carry, also
-- when more was announced before it was sent. Null: it was announced by nothing of its own.
alter table incident_updates add column told_seq integer;

-- What the message with the link was called, in the language of its reader. Null: as the occasion is called, which is English.
alter table alert_links add column title text check (length(title) <= 500);

create or replace function identity_alert_link(of_token_hash bytea)
  returns table (
    workspace_id integer, occasion_id bigint, target_key text, locale text, timezone text, event text, title text, severity text,
    incident_id integer, is_lasting boolean, started_at timestamptz, ended_at timestamptz, acknowledged_at timestamptz,
    snoozed_until timestamptz
  )
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select l.workspace_id, l.occasion_id, l.target_key, l.locale, l.timezone, o.event, coalesce(l.title, o.title), o.severity, o.incident_id,
      o.is_lasting, o.started_at, coalesce(o.ended_at, i.resolved_at), coalesce(o.acknowledged_at, i.acknowledged_at), t.snoozed_until
    from alert_links l join alert_occasions o on o.id = l.occasion_id join workspaces w on w.id = l.workspace_id and w.deleted_at is null
    left join alert_told t on t.occasion_id = l.occasion_id and t.target_key = l.target_key
    -- It is told to the occasion a moment later.
    left join incidents i on i.id = o.incident_id and i.workspace_id = l.workspace_id
    where l.token_hash = of_token_hash and coalesce(o.ended_at, now()) > now() - interval '7 days';
  end;
