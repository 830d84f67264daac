-- An owner whose address nobody has confirmed has little room. What counts is in all workspaces of the owner, of which a request may see one.
create policy lookups_of_owner on monitors to current_user using (true);

-- Owners of workspaces whose address is not confirmed, what each has, and how much of it would be added. They are locked until the transaction ends,
-- so that two requests at once are counted one after the other.
create function identity_unconfirmed_owners(of_workspaces integer[], adding integer[])
  returns table (is_administrator boolean, added integer, monitors integer, heartbeats integer, webhook_checks integer)
  language plpgsql volatile security definer set search_path = public, pg_temp
as $$
begin
  perform from users u
  where u.id in (select w.owner_id from workspaces w where w.id = any (of_workspaces)) and u.email is not null and not u.email_verified
  order by u.id for no key update;
  if not found then
    return;
  end if;
  -- A statement of its own, and so with a view of its own: it sees what others wrote while this one waited.
  return query
    select u.is_administrator,
      (select sum(a.number)::integer from unnest(of_workspaces, adding) as a (workspace_id, number)
         join workspaces w on w.id = a.workspace_id where w.owner_id = u.id),
      (select count(*)::integer from monitors m where m.owner_id = u.id and m.deleted_at is null),
      (select count(*)::integer from heartbeats h join workspaces w on w.id = h.workspace_id
         where w.owner_id = u.id and h.deleted_at is null),
      (select count(*)::integer from webhook_checks c join workspaces w on w.id = c.workspace_id
         where w.owner_id = u.id and c.deleted_at is null)
    from users u
    where u.id in (select w.owner_id from workspaces w where w.id = any (of_workspaces)) and u.email is not null and not u.email_verified;
end
$$;
revoke execute on function identity_unconfirmed_owners(integer[], integer[]) from public, parallax_worker;
grant execute on function identity_unconfirmed_owners(integer[], integer[]) to parallax_api;
