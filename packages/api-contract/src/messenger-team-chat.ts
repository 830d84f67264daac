import { z } from 'zod';
import { route } from './route.ts';

const tag = 'Alert channels';

/** Sends a browser to the team chat. */
export const teamChatWebhookRoute = route({
  method: 'GET',
  path: '/api/v1/auth/team-chat/webhook',
  credentials: 'bearer',
  tag,
  summary: 'Begin to connect a room of the team chat',
  description:
    'Open the address in the browser that made this call: it was given a cookie which the callback asks for. There a person picks the room that alerts go to. 404 where the team chat is not configured.',
  success: {
    status: 200,
    answer: z.object({ authorization_url: z.string() }).meta({ id: 'TeamChatAuthorizationUrl' }),
  },
  errors: [403, 404],
  perAddressPerMinute: 30,
});

/** Where the team chat sends the browser back to. */
export const teamChatCallbackRoute = route({
  method: 'GET',
  path: '/api/v1/auth/team-chat/webhook/callback',
  credentials: 'none',
  tag,
  summary: 'Where the team chat sends the browser back to',
  description:
    'Keeps the webhook URL of the room as a destination of the `team-chat` configuration of whoever began, and redirects to the page of alerts with the result in the hash: `team_chat=connected` with `destination`, or `team_chat_error`.',
  query: z.object({
    code: z.string().max(2_048).optional(),
    state: z.string().max(2_048).optional(),
    error: z.string().max(2_048).optional(),
  }),
  success: { status: 307 },
  errors: [404],
  perAddressPerMinute: 30,
});
