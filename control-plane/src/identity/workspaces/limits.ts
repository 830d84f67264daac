/** How many workspaces a user may own. */
export const mostOwnWorkspaces = 100;

/** How many members a workspace may have, its owner included. */
export const mostMembers = 500;

/** How many invitations of a workspace may wait at once. */
export const mostOpenInvites = 200;

/** Life of an invitation, by the specification. */
export const inviteLife = '14 days';
