import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { teamChatSweep } from './job.ts';
import { teamChatRoutes } from './routes.ts';

export type { CallbackError as TeamChatError } from './team-chat.ts';

/** The team chat's page of consent: a person chooses a room, and alerts may go there. */
export const teamChatCapability: Capability<Context> = {
  name: 'team-chat',
  routes: teamChatRoutes,
  services: [teamChatSweep],
};
