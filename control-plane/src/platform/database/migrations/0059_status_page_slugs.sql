-- Pages that were deleted are looked for once an hour; few rows have this.
create index status_pages_deleted on status_pages (deleted_at) where deleted_at is not null;

-- A page of a workspace that was deleted is gone at once, and not when the workspace is empty.
create or replace function identity_status_page(
    of_slug text, out page_id integer, out workspace_id integer, out slug text)
  language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
  select p.id, p.workspace_id, p.slug
  into identity_status_page.page_id, identity_status_page.workspace_id, identity_status_page.slug
  from status_pages p join workspaces w on w.id = p.workspace_id and w.deleted_at is null
  where p.deleted_at is null and p.is_published and (
    p.slug = of_slug
    or p.id = (select s.page_id from status_page_slugs s where s.slug = of_slug and s.taken_until > clock_timestamp()))
  order by (p.slug = of_slug) desc limit 1;
end
$$;

-- Ends what is left of a slug that was taken until a time that has passed, whoever's it was: its row would be in the way of the next.
create function identity_forget_status_page_slug(of_slug text) returns void
  language plpgsql volatile security definer set search_path = public, pg_temp
as $$
begin
  delete from status_page_slugs s where s.slug = of_slug and s.taken_until <= clock_timestamp();
end
$$;
revoke execute on function identity_forget_status_page_slug(text) from public, parallax_worker;
grant execute on function identity_forget_status_page_slug(text) to parallax_api;
