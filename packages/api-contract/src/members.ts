import { z } from 'zod';
import { emailSchema } from './auth.ts';
import { route } from './route.ts';
import { bodyId, idSchema, listOf, messageSchema, pageQuery, timestamp } from './shared.ts';
import { workspaceRole, workspaceSchema } from './workspaces.ts';

/** Roles that may be given; a workspace gets another owner by a transfer only. */
const givenRole = z.enum(['editor', 'viewer']);

const memberFields = {
  /** Of the membership, not of the account; an invitation keeps its number when it is accepted. */
  id: z.number().int(),
  /** null while the invitation waits. */
  user: z.object({ id: z.number().int(), display_name: z.string().nullable() }).nullable(),
  /** For owners; null for others, and for an account without one. */
  email: z.string().nullable(),
  role: workspaceRole,
  status: z.enum(['invited', 'active']),
  created_at: timestamp,
  /** Of an invitation. */
  expires_at: timestamp.nullable(),
};

export const memberSchema = z.object(memberFields).meta({ id: 'Member' });
export type Member = z.output<typeof memberSchema>;

const token = z.string().meta({ description: 'lets one account in; shown this once' });
const url = z.string().meta({ description: 'a page of the console that takes the token from the fragment' });

const invitedMemberSchema = z.object({ ...memberFields, token, url }).meta({ id: 'InvitedMember' });

const inviteFields = {
  id: z.number().int(),
  role: givenRole,
  /** The only address that may use it; null: whoever has the link. */
  email: z.string().nullable(),
  created_at: timestamp,
  expires_at: timestamp,
};

export const inviteSchema = z.object(inviteFields).meta({ id: 'Invite' });
export type Invite = z.output<typeof inviteSchema>;

const createdInviteSchema = z.object({ ...inviteFields, token, url }).meta({ id: 'CreatedInvite' });

const tag = 'Workspaces';
const workspace = z.object({ id: idSchema });
const member = z.object({ id: idSchema, member_id: idSchema });

export const listMembersRoute = route({
  method: 'GET',
  path: '/api/v1/workspaces/:id/members',
  credentials: 'bearer',
  tag,
  summary: 'List the members of a workspace, the owner first',
  description: 'Mail addresses and those who are invited are shown to the owner only.',
  params: workspace,
  query: z.object(pageQuery),
  success: { status: 200, answer: listOf('members', memberSchema).meta({ id: 'MemberList' }) },
  errors: [404],
});

export const inviteMemberRoute = route({
  method: 'POST',
  path: '/api/v1/workspaces/:id/members',
  credentials: 'bearer',
  tag,
  summary: 'Invite somebody by mail',
  description:
    'For the owner. The invitation is good for the account with that address, once, for 14 days; the answer is the same whether or not there is such an account. Inviting an address again replaces its invitation. At most 20 mails an hour.',
  params: workspace,
  body: z.strictObject({ email: emailSchema, role: givenRole.default('editor') }).meta({ id: 'InviteMemberRequest' }),
  success: { status: 201, answer: invitedMemberSchema },
  idempotent: true,
  errors: [403, 404, 409],
});

export const updateMemberRoute = route({
  method: 'PATCH',
  path: '/api/v1/workspaces/:id/members/:member_id',
  credentials: 'bearer',
  tag,
  summary: 'Change the role of a member or of somebody invited',
  description:
    'For the owner, whose own role only a transfer changes (409). Takes effect at the next request of the member.',
  params: member,
  body: z.strictObject({ role: givenRole }).meta({ id: 'UpdateMemberRequest' }),
  success: { status: 200, answer: memberSchema },
  errors: [403, 404, 409],
});

export const removeMemberRoute = route({
  method: 'DELETE',
  path: '/api/v1/workspaces/:id/members/:member_id',
  credentials: 'bearer',
  tag,
  summary: 'Remove a member, or withdraw an invitation',
  description: 'For the owner, who cannot be removed (409). Takes effect at the next request of the member.',
  params: member,
  success: { status: 204 },
  errors: [403, 404, 409],
});

export const leaveWorkspaceRoute = route({
  method: 'POST',
  path: '/api/v1/workspaces/:id/leave',
  credentials: 'bearer',
  tag,
  summary: 'Leave a workspace',
  description: 'The owner cannot (409).',
  params: workspace,
  success: { status: 200, answer: messageSchema },
  errors: [404, 409],
});

export const transferWorkspaceRoute = route({
  method: 'POST',
  path: '/api/v1/workspaces/:id/transfer',
  credentials: 'bearer',
  tag,
  summary: 'Make another member the owner',
  description:
    'For the owner, who is an editor from then on; not the default workspace of the owner (409). Names of monitors are unique within an owner: names that the new owner has elsewhere are a 409 that lists them. The plan of the new owner rules: monitors below its shortest interval go on as they are, and are named in the answer.',
  params: workspace,
  body: z.strictObject({ member_id: bodyId }).meta({ id: 'TransferWorkspaceRequest' }),
  success: {
    status: 200,
    answer: z
      .object({
        workspace: workspaceSchema,
        /** Shortest interval of the new owner's plan. */
        minimum_interval_seconds: z.number().int(),
        /** How many monitors are below it. */
        below_minimum_total: z.number().int(),
        /** The first 100 of them. */
        below_minimum: z.array(
          z.object({ id: z.number().int(), name: z.string(), interval_seconds: z.number().int() }),
        ),
      })
      .meta({ id: 'WorkspaceTransfer' }),
  },
  errors: [403, 404, 409],
});

export const listInvitesRoute = route({
  method: 'GET',
  path: '/api/v1/workspaces/:id/invites',
  credentials: 'bearer',
  tag,
  summary: 'List the invitations that wait for somebody, the newest first',
  description: 'For the owner. Tokens are not shown again.',
  params: workspace,
  query: z.object(pageQuery),
  success: { status: 200, answer: listOf('invites', inviteSchema).meta({ id: 'InviteList' }) },
  errors: [403, 404],
});

export const createInviteRoute = route({
  method: 'POST',
  path: '/api/v1/workspaces/:id/invites',
  credentials: 'bearer',
  tag,
  summary: 'Make a link that lets one account in',
  description: 'For the owner. Good for 14 days and one use, also by an account without a mail address.',
  params: workspace,
  body: z
    .strictObject({ role: givenRole.default('editor') })
    .nullish()
    .meta({ id: 'CreateInviteRequest' }),
  success: { status: 201, answer: createdInviteSchema },
  idempotent: true,
  errors: [403, 404, 409],
});

export const revokeInviteRoute = route({
  method: 'DELETE',
  path: '/api/v1/workspaces/:id/invites/:invite_id',
  credentials: 'bearer',
  tag,
  summary: 'Withdraw an invitation',
  params: z.object({ id: idSchema, invite_id: idSchema }),
  success: { status: 204 },
  errors: [403, 404],
});

export const acceptInviteRoute = route({
  method: 'POST',
  path: '/api/v1/workspaces/invites/accept',
  credentials: 'bearer',
  tag,
  summary: 'Join a workspace by an invitation',
  description:
    'Who is a member already stays what they are, and the invitation is not used up. A token that came by mail also shows that the address of the account is read by its user.',
  body: z.strictObject({ token: z.string().min(1).max(500) }).meta({ id: 'AcceptInviteRequest' }),
  success: {
    status: 200,
    answer: z
      .object({
        workspace: workspaceSchema,
        /** False for who was a member already. */
        joined: z.boolean(),
      })
      .meta({ id: 'AcceptedInvite' }),
  },
  errors: [403, 404, 409],
});
