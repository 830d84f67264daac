-- What the page of an invitation shows to who has its token, before they are anybody: who invites to which workspace as what, and for which address.
-- verdict: one of `judge_invite`, for the very address that it was mailed to; all but the verdict is null where there is no such invitation.
create function identity_shown_invite(
  of_hash bytea, most_members integer,
  out verdict text, out workspace text, out role text, out email text, out inviter_id integer, out inviter_name text
)
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  judged record;
begin
  select * into judged from judge_invite(
    of_hash, null, (select i.email from workspace_invites i where of_hash in (i.token_hash, i.mailed_hash)), most_members);
  verdict := judged.verdict;
  if verdict not in ('open', 'full') then
    return;
  end if;
  identity_shown_invite.role := (judged.invite).role;
  identity_shown_invite.email := (judged.invite).email;
  workspace := (select w.name from workspaces w where w.id = (judged.invite).workspace_id);
  select u.id, u.display_name into inviter_id, inviter_name
  from users u where u.id = (judged.invite).invited_by and u.deleted_at is null;
end
$$;
revoke execute on function identity_shown_invite(bytea, integer) from public, parallax_worker;
grant execute on function identity_shown_invite(bytea, integer) to parallax_api;
